import type { Context } from 'koa'
import { Html, html } from '../admin/html.ts'
import type { Part } from '../admin/html.ts'

const style = `:root{color-scheme:light dark;font:16px/1.55 system-ui,sans-serif;--line:#8884;--quiet:#8882}
body{margin:0}main,nav{max-width:64rem;margin:0 auto;padding:0 1rem}
nav{padding-top:1rem;display:flex;gap:1rem;flex-wrap:wrap}
a{color:light-dark(#1d4ed8,#93b4ff)}
h1{font-size:1.6rem}h2{margin-top:2.2rem}h3{margin:1.4rem 0 0}h3+p{margin:.1rem 0 .4rem}
code,pre{font:.88em/1.5 ui-monospace,monospace;background:var(--quiet);border-radius:.25rem}
code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}pre code{padding:0;background:none}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}
input{font:inherit;width:100%;box-sizing:border-box;padding:.6rem;border:1px solid #888;border-radius:.4rem;margin:.6rem 0}
ul.operations{list-style:none;padding:0;margin:0}
ul.operations li{display:grid;grid-template-columns:4.5rem 1fr;gap:.5rem;padding:.2rem 0;border-top:1px solid var(--line)}
ul.operations small{display:block;opacity:.75;overflow-wrap:anywhere}
.method{font:600 .8rem/1.9 ui-monospace,monospace}
[hidden]{display:none!important}
:focus-visible{outline:3px solid #f59e0b;outline-offset:2px}`

/** Style is inline, scripts come from this address alone, and so does everything that they ask for. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const page = (title: string, body: Part, head: Part = null): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${new Html(style)}
        </style>
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text

/** Answers a text that does not change while the process runs. */
export const send = (ctx: Context, type: string, body: string | Buffer): void => {
  ctx.set('Content-Security-Policy', policy)
  ctx.set('Cache-Control', 'public, max-age=300')
  ctx.type = type
  ctx.body = body
}

export const sendPage = (ctx: Context, text: string | Buffer): void => send(ctx, 'text/html; charset=utf-8', text)
