import { lasting } from '../../../config/lasting.ts'
import { listTransactions, readHealth } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import { facts, instant, number, table } from './parts.ts'
import type { Page } from './visit.ts'

const most = 20

export const database: Page = {
  path: '/database',
  show: async ({ trx }) => {
    const [{ database: found, migrations }, transactions] = [await readHealth(trx), await listTransactions(trx, most)]
    return {
      title: 'Database',
      isLive: true,
      place: '',
      body: html`<section>
          <h2>Now</h2>
          ${facts(
            [
              ['Answered in', `${found.latencyMs} ms`],
              ['Oldest transaction', lasting(found.oldestTransactionSeconds)],
              [
                'Replica behind',
                found.replicationLagSeconds === null ? 'no replica is seen' : lasting(found.replicationLagSeconds),
              ],
              ['Newest migration', html`<code>${migrations.latest ?? 'none'}</code>`],
              ['Migrations', migrations.isComplete ? 'all applied' : 'some are missing: run the release'],
            ],
            true,
          )}
        </section>
        <section>
          <h2>Open transactions</h2>
          ${table(
            `The oldest first, at most ${number(most)}`,
            [
              { label: 'Process' },
              { label: 'Pid', isNumber: true },
              { label: 'State' },
              { label: 'Waits for' },
              { label: 'Since' },
            ],
            transactions.map(({ application, pid, state, waitsFor, startedAt }) => [
              application === '' ? 'without a name' : application,
              String(pid),
              state,
              waitsFor ?? '',
              instant(startedAt),
            ]),
            'None is open.',
          )}
        </section>`,
    }
  },
}
