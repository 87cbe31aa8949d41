import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
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

/**
 * Makes one file of the compiled api in `folder`, with what it loads later in files beside it. The modules stay where they are, the entry
 * as `api/entry.js`: threads, migrations and scripts load them.
 */
export const bundleApi = async (folder: string): Promise<void> => {
  const entry = join(folder, 'api/entry.js')
  if (!existsSync(entry)) renameSync(join(folder, 'api/main.js'), entry)
  const { outputFiles } = await build({
    write: false,
    entryPoints: { main: entry },
    outdir: join(folder, 'api'),
    chunkNames: 'later/[name]-[hash]',
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
  mkdirSync(join(folder, 'api/later'), { recursive: true })
  for (const { path, text } of outputFiles) writeFileSync(path, path.endsWith('.js') ? inAscii(text) : text)
}
