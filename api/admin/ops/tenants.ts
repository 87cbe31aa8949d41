import { backlogByTenant } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import { base } from './layout.ts'
import { href, instant, number, table } from './parts.ts'
import type { Page } from './visit.ts'

const most = 50

export const tenants: Page = {
  path: '/tenants',
  show: async ({ trx }) => {
    const rows = await backlogByTenant(trx, most)
    return {
      title: 'Tenants by backlog',
      isLive: true,
      place: '/tenants',
      body: html`<section>
        ${table(
          `Due and not handed over, or dead; at most ${most} tenants. Pauses of one tenant are made on the page of a queue.`,
          [
            { label: 'Tenant' },
            { label: 'Pending', isNumber: true },
            { label: 'Oldest due' },
            { label: 'Dead', isNumber: true },
            { label: 'By queue' },
            { label: 'Id' },
          ],
          rows.map((row) => [
            row.tenantId === null
              ? 'No tenant: the platform itself'
              : html`<a href="${href('/jobs', { tenantId: row.tenantId })}">${row.name ?? 'deleted'}</a>`,
            number(row.pending),
            instant(row.oldestAt),
            number(row.dead),
            row.queues.map(
              ({ queue, pending, dead }, place) =>
                html`${place > 0 && ', '}<a href="${base}/queues/${queue}">${queue}</a>
                  ${number(pending)}${dead > 0 && ` (${number(dead)} dead)`}`,
            ),
            row.tenantId === null ? '' : html`<code>${row.tenantId}</code>`,
          ]),
          'Nobody waits for anything.',
        )}
      </section>`,
    }
  },
}
