import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Context, Middleware, Next } from 'koa'
import type { ReadDocument } from '../lib/document.ts'
import { guidePage, guides } from './guides.ts'
import { homePage } from './home.ts'
import { send, sendPage } from './page.ts'
import { indexPage, partOf, searchScript, startScript, tagPage, tagsOf } from './reference.ts'
import type { Document } from './reference.ts'

const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const javascript = 'text/javascript; charset=utf-8'
/** By name: the type, and how the text is read. Files of the library are read once. */
const assets: Record<string, { type: string; read: () => string | Buffer }> = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8', read: () => readFileSync(join(library, 'swagger-ui.css')) },
  'swagger-ui-bundle.js': { type: javascript, read: () => readFileSync(join(library, 'swagger-ui-bundle.js')) },
  'start.js': { type: javascript, read: () => startScript },
  'search.js': { type: javascript, read: () => searchScript },
}

/** Addresses that people try, and where they lead. */
const moved: Record<string, string> = {
  '/api': '/api/docs',
  '/api/': '/api/docs',
  '/api/docs/': '/api/docs',
  '/docs': '/api/docs',
  '/guides': '/',
  '/guides/': '/',
  '/superuser': '/superuser/ops',
  '/superuser/': '/superuser/ops',
}

/**
 * Pages for people, without a credential: `/` with links, the guides, `/api/openapi.json`, and the reference at `/api/docs`. The reference is
 * an index of all operations and a page for each tag, since no library shows hundreds of operations at once within a second.
 */
export const documentation = (document: ReadDocument): Middleware => {
  // Kept as bytes: those are compressed once (`compress.ts`).
  const kept = new Map<string, Buffer>()
  const once = async (name: string, make: () => Promise<string | Buffer> | string | Buffer): Promise<Buffer> => {
    const known = kept.get(name)
    if (known !== undefined) return known
    const made = await make()
    const bytes = typeof made === 'string' ? Buffer.from(made) : made
    kept.set(name, bytes)
    return bytes
  }
  const whole = () => once('openapi.json', document)
  const parsed = async () => JSON.parse(String(await whole())) as Document
  // A request may ask for any name; only those of tags lead to a look into the document.
  let tags: Set<string> | null = null
  const isTag = async (name: string) => (tags ??= new Set(tagsOf(await parsed()))).has(name)
  const part = (tag: string) => once(`${tag}.json`, async () => partOf(await parsed(), tag))

  const reference = async (ctx: Context, rest: string, next: Next): Promise<unknown> => {
    const [first = '', second = '', ...more] = rest.split('/')
    if (first === '') return sendPage(ctx, await once('index', async () => indexPage(await parsed())))
    const asset = first === 'assets' && more.length === 0 && Object.hasOwn(assets, second) ? assets[second] : undefined
    if (asset) return send(ctx, asset.type, await once(`assets ${second}`, asset.read))
    if (second !== '' || more.length > 0) return next()
    const [, tag = '', ending] = /^([A-Za-z]{1,60})(\.json)?$/.exec(first) ?? []
    if (!(await isTag(tag))) return next()
    return ending ? send(ctx, 'application/json; charset=utf-8', await part(tag)) : sendPage(ctx, tagPage(tag))
  }

  return async (ctx: Context, next: Next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
    const { path } = ctx
    const to = Object.hasOwn(moved, path) ? moved[path] : undefined
    if (to !== undefined) {
      ctx.status = 302
      return ctx.redirect(to)
    }
    // Browsers ask for it by themselves; the pages of operators name no icon.
    if (path === '/favicon.ico') {
      ctx.status = 204
      return undefined
    }
    if (path === '/') return sendPage(ctx, await once('home', homePage))
    if (path === '/api/openapi.json') {
      ctx.type = 'application/json; charset=utf-8'
      ctx.set('Cache-Control', 'public, max-age=60')
      ctx.body = await whole()
      return undefined
    }
    if (path === '/api/docs' || path.startsWith('/api/docs/'))
      return reference(ctx, path.slice('/api/docs/'.length), next)
    if (!path.startsWith('/guides/')) return next()
    const guide = guides().find(({ name }) => name === path.slice('/guides/'.length))
    return guide ? sendPage(ctx, await once(`guide ${guide.name}`, () => guidePage(guide))) : next()
  }
}
