import { settings } from '../../config/env.ts'
import { html } from '../admin/html.ts'
import { guides } from './guides.ts'
import { page } from './page.ts'

/** The page at the bare address: where to go from here. */
export const homePage = (): string =>
  page(
    'Pousada',
    html`<main>
      <h1>Pousada</h1>
      <p>The API that runs lodging properties, and the pages around it.</p>
      <ul>
        <li><a href="/superuser/ops">Operations</a>: queues, jobs, providers and what needs a person</li>
        <li><a href="/api/docs">API reference</a>: every operation, to be searched and tried</li>
        ${guides().map(({ name, title }) => html`<li><a href="/guides/${name}">${title}</a></li>`)}
        <li><a href="/api/openapi.json">OpenAPI document</a></li>
        <li><a href="/superuser/dashboard">Dashboard of Redis</a></li>
        ${settings.mailboxUrl === null ? null : html`<li><a href="${settings.mailboxUrl}">Mailbox of development</a></li>`}
      </ul>
    </main>`,
  )
