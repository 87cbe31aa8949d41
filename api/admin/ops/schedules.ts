import { lasting } from '../../../config/lasting.ts'
import { listSchedules } from '../../../db/jobs/index.ts'
import type { ScheduleRow } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import { href, instant, number, table, tag } from './parts.ts'
import type { Page } from './visit.ts'

const clockOf = ({ everySeconds, cron, timeZone }: ScheduleRow) =>
  everySeconds === null ? html`<code>${cron ?? ''}</code> ${timeZone}` : `every ${lasting(everySeconds)}`

const backfills: Record<string, string> = {
  none: 'left out',
  last: 'the last one is made up',
  all: 'all are made up',
}

export const schedules: Page = {
  path: '/schedules',
  show: async ({ trx }) => ({
    title: 'Schedules',
    isLive: true,
    place: '/schedules',
    body: html`<section>
      ${table(
        'Jobs that come by the clock. A slot is missed when its job failed; three in a row alert.',
        [
          { label: 'Kind' },
          { label: 'State' },
          { label: 'Clock' },
          { label: 'Last slot' },
          { label: 'Next slot' },
          { label: 'Missed in a row', isNumber: true },
          { label: 'Slots nobody was there for' },
        ],
        (await listSchedules(trx)).map((row) => [
          html`<a href="${href('/jobs', { kind: row.kind })}">${row.kind}</a>`,
          row.isLate ? tag('late', 'bad') : row.misses > 0 ? tag('misses', 'warn') : tag('on time', 'good'),
          clockOf(row),
          instant(row.lastAt),
          instant(row.nextAt),
          number(row.misses),
          backfills[row.backfill] ?? row.backfill,
        ]),
        'No scheduler has declared its schedules yet.',
      )}
    </section>`,
  }),
}
