import { listProcesses } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import { instant, jobLink, number, table, tag } from './parts.ts'
import type { Page } from './visit.ts'

/** A loop that is late by more is worth a look. */
const lateMs = 100

export const workers: Page = {
  path: '/workers',
  show: async ({ trx }) => ({
    title: 'Workers',
    isLive: true,
    place: '/workers',
    body: html`<section>
      ${table(
        'Processes that gave a sign of life within the hour. They do so every five seconds.',
        [
          { label: 'Process' },
          { label: 'State' },
          { label: 'Version' },
          { label: 'Queues and concurrency' },
          { label: 'Running', isNumber: true },
          { label: 'In hand' },
          { label: 'Loop lag', isNumber: true },
          { label: 'Since' },
          { label: 'Last beat' },
        ],
        (await listProcesses(trx)).map((row) => [
          html`${row.process} <span class="soft small">${row.host} ${row.pid}</span>`,
          row.isAlive ? tag('alive', 'good') : tag('silent', 'bad'),
          row.version,
          Object.entries(row.queues)
            .map(([queue, concurrency]) => `${queue} ${concurrency}`)
            .join(', '),
          row.process === 'worker' ? number(row.running) : '',
          row.current.map(({ jobId, kind }) => html`${jobLink(jobId, kind)} `),
          row.loopLagMs > lateMs ? tag(`${row.loopLagMs} ms`, 'warn') : `${row.loopLagMs} ms`,
          instant(row.startedAt),
          instant(row.beatAt),
        ]),
        'No relay, scheduler or worker has been seen within the hour.',
      )}
    </section>`,
  }),
}
