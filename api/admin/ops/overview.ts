import type { Check, CheckName } from '../../../db/jobs/index.ts'
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
const pageOf: Partial<Record<CheckName, string>> = {
  relay: '/workers',
  scheduler: '/workers',
  workers: '/workers',
  deaths: '/workers',
  queues: '/queues',
  pauses: '/queues',
  schedules: '/schedules',
  dead_letters: '/dead',
  gateways: '/providers',
  credentials: '/providers',
  accounts: '/providers',
}
const named = ({ name }: Check): Html => {
  const path = pageOf[name]
  const words = name.replace('_', ' ')
  return path === undefined ? html`${words}` : html`<a href="${base}${path}">${words}</a>`
}

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
    const sum = (of: 'pending' | 'waiting' | 'dispatched' | 'running' | 'dead') =>
      number(health.queues.reduce((total, queue) => total + queue[of], 0))
    const perMinute = (of: 'done' | 'failed') =>
      number(health.queues.reduce((total, queue) => total + queue.perMinute[of], 0))
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
            ['Pending', html`<a href="${base}/jobs?status=pending">${sum('pending')}</a>`],
            ['Scheduled', sum('waiting')],
            ['Dispatched', html`<a href="${base}/jobs?status=dispatched">${sum('dispatched')}</a>`],
            ['Running', html`<a href="${base}/jobs?status=running">${sum('running')}</a>`],
            ['Dead', html`<a href="${base}/dead">${sum('dead')}</a>`],
            ['Done a minute', perMinute('done')],
            ['Failed a minute', perMinute('failed')],
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
