import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'

// Node reads, resolves and links each module by itself, which takes the api longer than everything else that it does at its start.

/** Packages of many small ES modules that go into the bundle. Others stay outside: they read files of theirs, or are shared with code that does. */
const inside = new Set(['koa', '@koa/router'])

const nameOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** Leaves packages outside, and lets each of our files go on naming its neighbours by its own place. */
const places = (folder: string): Plugin => ({
  name: 'places',
  setup: (bundler) => {
    bundler.onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      inside.has(nameOf(path)) || (importer.includes(`${sep}node_modules${sep}`) && !path.startsWith('node:'))
        ? undefined
        : { path, external: true },
    )
    bundler.onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (path.includes(`${sep}node_modules${sep}`)) return undefined
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      const place = JSON.stringify(relative(join(folder, 'api'), path).replaceAll(sep, '/'))
      return { contents: text.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`), loader: 'js' }
    })
  },
})

/**
 * Escapes what is not ASCII, which esbuild leaves in regular expressions and comments. One letter beyond Latin-1 in a file makes V8 keep
 * all of its text with two bytes a letter: megabytes of each process.
 */
export const inAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Modules of the compiled service, which make a part of the bundle each. */
const modulesIn = (folder: string): string[] =>
  ['api', 'db'].flatMap((layer) =>
    readdirSync(join(folder, layer), { withFileTypes: true })
      .map(({ name }) => join(folder, layer, name, 'index.js'))
      .filter((file) => existsSync(file)),
  )

/**
 * Bundles the compiled api in `folder` into `api/main.js` and a few parts beside it. The modules stay where they are, the entry
 * as `api/entry.js`: threads, migrations and scripts load them. V8 parses a file as a whole and gives that memory back only in part:
 * in one file of 5 MB the api keeps tens of megabytes more, so each module is an entry, and what the same entries need is a part.
 */
export const bundleApi = async (folder: string): Promise<void> => {
  const api = join(folder, 'api')
  const entry = join(api, 'entry.js')
  if (!existsSync(entry)) renameSync(join(api, 'main.js'), entry)
  const parts = modulesIn(folder).map((file) => ({ in: file, out: join('parts', relative(folder, file)) }))
  const { outputFiles } = await build({
    write: false,
    entryPoints: [{ in: entry, out: 'main' }, ...parts],
    outdir: api,
    // Beside the main file: they name their neighbours by a place relative to it.
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    logLevel: 'warning',
    plugins: [places(folder)],
    // Packages of CommonJS ask for each other by `require`, which ES modules lack.
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
    },
  })
  // The entries of the modules only name what the parts hold, and nothing loads them.
  for (const { path, text } of outputFiles.filter((file) => dirname(file.path) === api))
    writeFileSync(path, path.endsWith('.js') ? inAscii(text) : text)
}
