import type { Check, CheckName, QueueState } from '../../../db/jobs/index.ts'
import { lasting } from '../../../config/lasting.ts'
import { checksOf, readHealth, statusOf, lastHour } from '../../../db/jobs/index.ts'
import { redisHealth } from '../health.ts'
import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { charts } from './chart.ts'
import { base } from './layout.ts'
import { facts, number, table, tag } from './parts.ts'
import type { Page } from './visit.ts'

/** The page of each check. */
const pageOf: Record<CheckName, string> = {
  database: `${base}/database`,
  transactions: `${base}/database`,
  migrations: `${base}/database`,
  redis: '/superuser/dashboard',
  redis_memory: '/superuser/dashboard',
  relay: `${base}/workers`,
  scheduler: `${base}/workers`,
  workers: `${base}/workers`,
  deaths: `${base}/workers`,
  queues: `${base}/queues`,
  pauses: `${base}/queues`,
  schedules: `${base}/schedules`,
  dead_letters: `${base}/dead`,
  gateways: `${base}/providers`,
  credentials: `${base}/providers`,
  accounts: `${base}/providers`,
}
const named = ({ name }: Check): Html => html`<a href="${pageOf[name]}">${name.replace('_', ' ')}</a>`

const said = {
  ok: ['note', 'Everything works.'],
  degraded: ['note warn', 'Something needs a look.'],
  down: ['note bad', 'Some jobs stand still.'],
} as const

export const overview: Page = {
  path: '',
  show: async ({ trx }) => {
    const [health, redis, minutes] = [await readHealth(trx), await redisHealth(), await lastHour(trx)]
    const checks = checksOf(health, redis)
    const [look, words] = said[statusOf(checks)]
    const counted = (path: string, of: (queue: QueueState) => number): Html =>
      html`<a href="${base}${path}">${number(health.queues.reduce((total, queue) => total + of(queue), 0))}</a>`
    return {
      title: 'Overview',
      isLive: true,
      place: '',
      body: html`<p class="${look}">
          <strong>${words}</strong> ${checks
            .filter((check) => !check.ok)
            .map((check) => html`<br />${named(check)}: ${check.detail}`)}
        </p>
        <section>
          <h2>Now</h2>
          ${facts([
            ['Pending', counted('/jobs?status=pending&clock=1', (queue) => queue.pending)],
            ['Scheduled', counted('/jobs?status=pending&clock=1', (queue) => queue.waiting)],
            ['Dispatched', counted('/jobs?status=dispatched&clock=1', (queue) => queue.dispatched)],
            ['Running', counted('/jobs?status=running&clock=1', (queue) => queue.running)],
            ['Dead', counted('/dead', (queue) => queue.dead)],
            ['Done a minute', counted('/jobs?status=done&clock=1', (queue) => queue.perMinute.done)],
            ['Failed a minute', counted('/queues', (queue) => queue.perMinute.failed)],
            [
              'Oldest',
              html`<a href="${base}/queues"
                >${lasting(Math.max(0, ...health.queues.map((queue) => queue.oldestPendingSeconds)))}</a
              >`,
            ],
          ])}
        </section>
        ${charts(minutes, 'all queues')}
        <section>
          <h2>Checks</h2>
          ${table(
            `Release ${health.version}`,
            [{ label: 'Part' }, { label: 'State' }, { label: 'What was seen' }],
            checks.map((check) => [named(check), check.ok ? tag('ok', 'good') : tag('look', 'bad'), check.detail]),
            '',
          )}
        </section>`,
    }
  },
}
