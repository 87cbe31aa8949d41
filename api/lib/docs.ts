import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Context, Middleware, Next } from 'koa'
import type { ReadDocument } from './document.ts'

const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const served: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pousada: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`
const start = `window.addEventListener('load', () => SwaggerUIBundle({ url: 'openapi.json', dom_id: '#docs', deepLinking: true, tryItOutEnabled: true, validatorUrl: null }))\n`
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"

/** `/api/openapi.json`, and a page to read it at `/api/docs`; both need no credential. */
export const documentation = (document: ReadDocument): Middleware => {
  const files = new Map<string, Buffer>()
  const asset = (name: string) => {
    const known = files.get(name)
    if (known) return known
    const bytes = readFileSync(join(assets, name))
    files.set(name, bytes)
    return bytes
  }
  return async (ctx: Context, next: Next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
    if (ctx.path === '/api/openapi.json') {
      ctx.type = 'application/json; charset=utf-8'
      ctx.set('Cache-Control', 'public, max-age=60')
      ctx.body = await document()
      return undefined
    }
    if (ctx.path !== '/api/docs' && !ctx.path.startsWith('/api/docs/')) return next()
    const name = ctx.path.slice('/api/docs/'.length)
    ctx.set('Content-Security-Policy', policy)
    ctx.set('Cache-Control', 'public, max-age=3600')
    if (ctx.path === '/api/docs') {
      ctx.type = 'text/html; charset=utf-8'
      ctx.body = page
    } else if (name === 'start.js') {
      ctx.type = 'text/javascript; charset=utf-8'
      ctx.body = start
    } else if (Object.hasOwn(served, name)) {
      ctx.type = served[name] ?? ''
      ctx.body = asset(name)
    } else return next()
    return undefined
  }
}
