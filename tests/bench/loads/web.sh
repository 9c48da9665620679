# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Web servers for loads, by sourcing. Each listens on $port, which the load chooses.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# nginx MAIN EVENTS HTTP: nginx with these parts of its configuration; in HTTP the server listens on $port.
nginx() {
  mkdir -p "$scratch/nginx"
  echo "daemon off; user root; pid $scratch/nginx/pid; error_log $scratch/nginx/errors; $1
    events { $2 }
    http { access_log off; client_body_temp_path $scratch/nginx/body; proxy_temp_path $scratch/nginx/proxy;
      fastcgi_temp_path $scratch/nginx/fastcgi; $3 }" >"$scratch/nginx/conf"
  serve nginx -c "$scratch/nginx/conf"
  until_ready port_open "$port"
}

# apache CONFIGURATION: apache that has a process for each request (prefork), on $port.
apache() {
  echo "ServerRoot /usr/lib/apache2
    ServerName localhost
    Listen 127.0.0.1:$port
    PidFile $scratch/pid
    ErrorLog $scratch/errors
    DefaultRuntimeDir $scratch
    LoadModule mpm_prefork_module modules/mod_mpm_prefork.so
    LoadModule authz_core_module modules/mod_authz_core.so
    User www-data
    $1" >"$scratch/apache.conf"
  serve apache2 -DFOREGROUND -f "$scratch/apache.conf"
  until_ready port_open "$port"
}

# php CHILDREN: php-fpm with so many children, which listens on the socket $scratch/php, and nginx before it on $port.
php() {
  printf '%s\n' '[global]' 'daemonize = no' "error_log = $scratch/errors" '[www]' 'user = www-data' 'group = www-data' \
    "listen = $scratch/php" 'pm = static' "pm.max_children = $1" "php_admin_value[session.save_path] = $scratch/sessions" \
    >"$scratch/php.conf"
  mkdir -m 777 "$scratch/sessions"
  serve php-fpm8.2 -F -y "$scratch/php.conf"
  php=$server
  until_ready test -S "$scratch/php"
  port=$(free_port)
  nginx 'worker_processes 1;' '' "server { listen 127.0.0.1:$port; location / { fastcgi_pass unix:$scratch/php;
    fastcgi_param SCRIPT_FILENAME $scratch/page.php; fastcgi_param REQUEST_METHOD GET;
    fastcgi_param HTTP_COOKIE \$http_cookie; } }"
}

# tomcat THREADS PAGE JAVA_OPTION...: Tomcat with so many threads for requests, which answers with this page on $port.
tomcat() {
  local threads=$1 page=$2 home=/usr/share/tomcat10
  shift 2
  mkdir -p "$scratch"/{conf,temp,webapps/ROOT}
  cp /etc/tomcat10/web.xml "$scratch/conf/"
  echo "$page" >"$scratch/webapps/ROOT/index.jsp"
  echo "<Server port='-1'><Service name='Catalina'>
    <Connector port='$port' address='127.0.0.1' maxThreads='$threads' minSpareThreads='$threads'/>
    <Engine name='Catalina' defaultHost='localhost'><Host name='localhost' appBase='webapps'/></Engine>
    </Service></Server>" >"$scratch/conf/server.xml"
  serve java "$@" -Dtomcat.util.scan.StandardJarScanFilter.jarsToSkip='*.jar' \
    -cp $home/bin/bootstrap.jar:$home/bin/tomcat-juli.jar -Dcatalina.home=$home -Dcatalina.base="$scratch" \
    -Djava.io.tmpdir="$scratch/temp" org.apache.catalina.startup.Bootstrap start
  until_ready curl -sf "http://127.0.0.1:$port/"
}
