// SPDX-License-Identifier: GPL-2.0-or-later
// node build.mjs DIRECTORY: writes app.js and app.css there, the same bytes each time.
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const out = process.argv[2];
const licence = (name) => readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim();
const banner = `/*! offwait: GPL-2.0-or-later. It includes
preact:
${licence('preact')}

@dagrejs/dagre:
${licence('@dagrejs/dagre')}
*/`;

await build({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.jsx' },
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'ascii',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  banner: { js: banner },
  outdir: out,
});
await build({ absWorkingDir: here, entryPoints: { app: 'src/style.css' }, bundle: true, minify: true, outdir: out });
