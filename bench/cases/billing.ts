import { closePeriod, linkChain, startRun } from '../../db/admin/index.ts'
import { auditStatement } from '../../db/lib/audit.ts'
import { inPlatform, inTenant, prepared, sql } from '../../db/lib/connection.ts'
import { addDays } from '../../config/time.ts'
import { makeTenant } from '../../test/auth/support.ts'
import type { Bench } from '../bench.ts'
import { percentile, judge } from '../report.ts'
import { sized } from '../size.ts'

const few = sized(1_000, 100)
const many = sized(10_000, 1_000)
const atOnce = 2
const gateReads = sized(20_000, 2_000)
const entries = sized(50_000, 5_000)

/** Tenants with a subscription, an add-on and some use, as copies of one; their books are not asked for. */
const copies = async (count: number): Promise<{ tenantIds: string[]; periodEnd: string }> => {
  const model = await makeTenant('Professional')
  const rows = await inPlatform((trx) =>
    sql<{ id: string }>(
      trx,
      `with made as (
         insert into tenant (name, billing_email, country, currency, time_zone, locale, plan)
         select 'Bench ' || n, 'bench@example.com', 'BR', 'BRL', 'America/Sao_Paulo', 'pt-BR', 'Professional' from generate_series(1, ?) n returning id),
       held as (
         insert into subscription (tenant_id, plan, plan_version_id, anchor_day, period_start, period_end)
         select made.id, s.plan, s.plan_version_id, s.anchor_day, s.period_start, s.period_end from made, subscription s where s.tenant_id = ?
         returning tenant_id)
       select tenant_id as id from held order by 1`,
      [count, model],
    ),
  )
  await inPlatform((trx) =>
    sql(
      trx,
      `insert into subscription_item (tenant_id, add_on_id, price_id) select t.id, a.id, p.id from unnest(?::uuid[]) as t (id), add_on a
         join add_on_price p on p.add_on_id = a.id where a.key = 'sla'`,
      [rows.map(({ id }) => id)],
    ),
  )
  await inPlatform((trx) =>
    sql(
      trx,
      `insert into usage_day (tenant_id, meter, day, quantity) select t.id, m, s.period_start, 500 from unnest(?::uuid[]) as t (id)
         join subscription s on s.tenant_id = t.id, unnest(array['messages.email', 'messages.phone']) m`,
      [rows.map(({ id }) => id)],
    ),
  )
  const [period] = await inPlatform((trx) =>
    sql<{ periodEnd: string }>(trx, `select period_end::text as period_end from subscription where tenant_id = ?`, [
      model,
    ]),
  )
  return { tenantIds: rows.map(({ id }) => id), periodEnd: period?.periodEnd ?? '' }
}

/** Seconds in which the periods of so many tenants are closed, by two workers at once. */
const runOf = async (count: number, ahead: number): Promise<number> => {
  const { tenantIds, periodEnd } = await copies(count)
  const date = addDays(periodEnd, ahead)
  const { id: runId } = await inPlatform((trx) => startRun(trx, { date, tenantIds }))
  const periods = await inPlatform((trx) =>
    sql<{ tenantId: string; periodStart: string }>(
      trx,
      `select payload->>'tenantId' as tenant_id, payload->>'periodStart' as period_start from jobs where kind = 'billing.close-period' and payload->>'billingRunId' = ?`,
      [runId],
    ),
  )
  const began = performance.now()
  const worker = async (mine: number) => {
    for (let index = mine; index < periods.length; index += atOnce) {
      const one = periods[index]
      if (one) await inTenant(one.tenantId, (trx) => closePeriod(trx, { ...one, runId, force: true }))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, mine) => worker(mine)))
  return (performance.now() - began) / 1_000
}

/** Milliseconds of transactions that open with a read of the tenant by its key: with its status and features, and without. In turn. */
const gate = async (): Promise<{ asked: number[]; bare: number[] }> => {
  const tenantId = await makeTenant('Professional')
  const features = `t.status, case when t.features_valid_until <= now() then active_features(t.id) else t.features end as features`
  const took = async (columns: string) => {
    const began = performance.now()
    await inTenant(tenantId, (trx) => prepared(trx, `select ${columns} from tenant t where t.id = ?`, [tenantId]))
    return performance.now() - began
  }
  const [asked, bare]: [number[], number[]] = [[], []]
  for (let index = 0; index < gateReads; index += 1) {
    asked.push(await took(features))
    bare.push(await took('t.id'))
  }
  return { asked: asked.slice(100), bare: bare.slice(100) }
}

/** Entries of one chain that are linked in a second. */
const chaining = async (): Promise<number> => {
  const tenantId = await makeTenant('Starter')
  await inTenant(tenantId, async (trx) => {
    const { text, bindings } = auditStatement(trx, { action: 'bench.write', subjectType: 'Bench' })
    for (let index = 0; index < entries; index += 1) await prepared(trx, text, bindings)
  })
  const began = performance.now()
  let linked = 0
  for (;;) {
    const some = await inPlatform((trx) => linkChain(trx, tenantId))
    if (some === 0) break
    linked += some
  }
  return linked / ((performance.now() - began) / 1_000)
}

export const bench: Bench = async () => {
  const small = await runOf(few, 1)
  const large = await runOf(many, 2)
  const [each, eachOfMany] = [(small / few) * 1_000, (large / many) * 1_000]
  const looks = await gate()
  const perSecond = await chaining()
  return {
    results: [
      judge({ name: `a run of ${many} tenants`, unit: 's', ours: large, reference: null }, { most: 300 }),
      judge(
        { name: `a tenant of ${many}, against one of ${few}`, unit: 'ms', ours: eachOfMany, reference: each },
        null,
      ),
      judge({ name: 'growth for each tenant', unit: 'times', ours: eachOfMany / each, reference: null }, { most: 1.2 }),
      judge(
        {
          name: 'a transaction that opens with the gate, p95',
          unit: 'ms',
          ours: percentile(looks.asked, 0.95),
          reference: percentile(looks.bare, 0.95),
        },
        null,
      ),
      judge(
        {
          name: 'the gate: what it adds at p95',
          unit: 'ms',
          ours: Math.max(0, percentile(looks.asked, 0.95) - percentile(looks.bare, 0.95)),
          reference: null,
        },
        { most: 0.2 },
      ),
      judge(
        {
          name: 'missing of 5,000 entries linked in a second',
          unit: '/s',
          ours: Math.max(0, 5_000 - perSecond),
          reference: null,
        },
        { most: 0 },
      ),
      judge({ name: 'entries of one chain linked', unit: '/s', ours: perSecond, reference: null }, null),
    ],
    notes: [
      `Two closers at once in one process, each a transaction for each tenant, with a plan, an add-on and two meters; invoices by transfer.`,
      `The gate is status and features of the tenant, in the read by its key that goes with the beginning of the transaction of each request. Reference: the same read without them.`,
    ],
  }
}
