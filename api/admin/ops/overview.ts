import { lasting } from '../../../config/lasting.ts'
import { checksOf, readHealth, statusOf, lastHour } from '../../../db/jobs/index.ts'
import { redisHealth } from '../health.ts'
import { html } from '../html.ts'
import { charts } from './chart.ts'
import { base } from './layout.ts'
import { facts, number, table, tag } from './parts.ts'
import type { Page } from './visit.ts'

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
      place: '',
      body: html`<p class="${look}">
          <strong>${words}</strong> ${checks
            .filter((check) => !check.ok)
            .map((check) => html`<br />${check.name.replace('_', ' ')}: ${check.detail}`)}
        </p>
        <section>
          <h2>Now</h2>
          ${facts([
            ['Pending', sum('pending')],
            ['Wait for their time', sum('waiting')],
            ['Handed over', sum('dispatched')],
            ['Running', sum('running')],
            ['Dead', html`<a href="${base}/dead">${sum('dead')}</a>`],
            ['Done a minute', perMinute('done')],
            ['Failed a minute', perMinute('failed')],
            ['Oldest', lasting(Math.max(0, ...health.queues.map((queue) => queue.oldestPendingSeconds)))],
          ])}
        </section>
        ${charts(minutes, 'all queues')}
        <section>
          <h2>Checks</h2>
          ${table(
            `Release ${health.version}`,
            [{ label: 'Part' }, { label: 'State' }, { label: 'What was seen' }],
            checks.map((check) => [
              check.name.replace('_', ' '),
              check.ok ? tag('ok', 'good') : tag('look', 'bad'),
              check.detail,
            ]),
            '',
          )}
        </section>`,
    }
  },
}
