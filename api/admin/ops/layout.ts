import { html } from '../html.ts'
import type { Html, Part } from '../html.ts'

export const base = '/superuser/ops'

/** Nothing but what this server sends: no script at all, style from a file of its own. */
export const opsPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const places = [
  ['', 'Overview'],
  ['/queues', 'Queues'],
  ['/tenants', 'Tenants'],
  ['/dead', 'Dead letters'],
  ['/schedules', 'Schedules'],
  ['/providers', 'Providers'],
  ['/workers', 'Workers'],
  ['/jobs', 'Search'],
  ['/acts', 'Acts'],
] as const

export type Place = (typeof places)[number][0]

export type Frame = {
  title: string
  place: Place
  operator: string
  /** Result of the action that led here. */
  note?: Html | null
  body: Part
  /** Of a page that refreshes by itself, or may: its own address, held or not. */
  live?: { isHeld: boolean; toggle: string }
}

const refreshSeconds = 10

/** A whole page. */
export const layout = ({ title, place, operator, note, body, live }: Frame): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${live && !live.isHeld && html`<meta http-equiv="refresh" content="${refreshSeconds}" />`}
        <title>${title} · Pousada operations</title>
        <link rel="stylesheet" href="${base}/style.css" />
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <div>
            <div class="bar">
              <p>Pousada operations</p>
              <p class="who">${operator} · <a href="${base}/sign-out">Sign out</a></p>
            </div>
            <nav aria-label="Pages">
              <ul>
                ${places.map(([path, label]) => html`<li><a href="${base}${path}" ${path === place && html` aria-current="page"`}>${label}</a></li> `)}
                <li><a href="/superuser/dashboard">Bull Board</a></li>
              </ul>
            </nav>
          </div>
        </header>
        <main id="content" tabindex="-1">
          <h1>${title}</h1>
          ${
            live &&
            html`<p class="soft small">
              ${live.isHeld ? 'This page is held.' : `This page refreshes every ${refreshSeconds} seconds.`}
              <a href="${live.toggle}">${live.isHeld ? 'Let it refresh' : 'Hold it'}</a>
            </p>`
          }
          ${note} ${body}
        </main>
        <footer>
          <p>
            As PostgreSQL has it at <time>${new Date().toISOString().slice(0, 19).replace('T', ' ')}</time> UTC. All
            times are UTC.
          </p>
        </footer>
      </body>
    </html> `
