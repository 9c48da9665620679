#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: the only consumer takes one message at a time (prefetch 1) and works 5 ms for each; the queue is full, the producer
# is refused and tries again. RabbitMQ is nearly idle. Fix: more consumers, in proportion, or a faster one; nothing in the
# server. Truth: people see the queue grow with all messages ready and one consumer at full utilisation, and start more
# consumers.
. "$(dirname "$0")/lib.sh"
port=$(free_port)
epmd=$(free_port)
dist=$(free_port)
export HOME=$scratch ERL_EPMD_PORT=$epmd ERL_EPMD_ADDRESS=127.0.0.1
serve epmd -port "$epmd" -address 127.0.0.1
: >"$scratch/none"
serve env RABBITMQ_NODENAME=loads@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$port" \
  RABBITMQ_DIST_PORT="$dist" RABBITMQ_MNESIA_BASE="$scratch/data" RABBITMQ_LOG_BASE="$scratch/logs" \
  RABBITMQ_ENABLED_PLUGINS_FILE="$scratch/none" RABBITMQ_CONF_ENV_FILE="$scratch/none" /usr/lib/rabbitmq/bin/rabbitmq-server
rabbit=$server
cat >"$scratch/client.py" <<'END'
import sys
import time

import pika

channel = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", int(sys.argv[1]))).channel()
channel.queue_declare("work", arguments={"x-max-length": 200, "x-overflow": "reject-publish"})

def work(_channel, method, _properties, _body):
    time.sleep(0.005)
    channel.basic_ack(method.delivery_tag)

if sys.argv[2] == "consume":
    channel.basic_qos(prefetch_count=1)
    channel.basic_consume("work", work)
    channel.start_consuming()
channel.confirm_delivery()
while True:
    try:
        channel.basic_publish("", "work", b"x" * 100)
    except pika.exceptions.NackError:
        time.sleep(0.002)
END
until_ready port_open "$port"
ln -s client.py "$scratch/consumer.py"
ln -s client.py "$scratch/producer.py"
bounded sh -c '/usr/bin/python3 "$0/consumer.py" "$1" consume &
  exec /usr/bin/python3 "$0/producer.py" "$1" publish' "$scratch" "$port"
record "$rabbit"
kill -KILL -- "-$rabbit" # it would take long to end by itself
