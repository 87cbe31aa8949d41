import { listActs } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import { href, instant, table } from './parts.ts'
import { countField } from './visit.ts'
import type { Page } from './visit.ts'

const limit = 50

const shown = (value: unknown): string =>
  value === undefined || value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)

/** Acts of operators on queues, jobs and providers, with the operator and the reason. */
export const acts: Page = {
  path: '/acts',
  show: async ({ trx, query }) => {
    const page = countField(query, 'page', 1_000) ?? 1
    const rows = await listActs(trx, { page, limit })
    return {
      title: 'Acts',
      place: '/acts',
      body: html`<section>
        ${table(
          'What operators did, the latest first.',
          [
            { label: 'When' },
            { label: 'Who' },
            { label: 'Act' },
            { label: 'On' },
            { label: 'Why' },
            { label: 'What changed' },
          ],
          rows
            .slice(0, limit)
            .map((act) => [
              instant(act.at),
              act.email ?? act.actorId ?? act.actorType,
              act.action,
              html`${act.subjectType} <code class="small">${act.subjectId ?? ''}</code>`,
              act.reason ?? '',
              act.changes.map(({ field, after }) => html`${field}: ${shown(after)}<br />`),
            ]),
          'No operator has done anything yet.',
        )}
        <p class="buttons">
          ${page > 1 && html`<a href="${href('/acts', { page: page - 1 })}">Newer</a> `}${rows.length > limit && html`<a href="${href('/acts', { page: page + 1 })}">Older</a>`}
        </p>
      </section>`,
    }
  },
}
