import { inTenant, sql } from '../../db/lib/connection.ts'
import { checks as chaosChecks } from '../chaos/checker.ts'
import { look } from '../race/checker.ts'
import type { Violation } from '../race/checker.ts'
import type { Parsed } from '../support/client.ts'
import type { Group, SimulatedHouse } from './house.ts'

/** Rules of the campaigns that the database alone can answer. */
const rules = [
  'debits equal credits',
  'balances equal their lines',
  'every posting event is posted',
  'every posting has one entry',
  'every refund is posted once',
  'payments stand at what their refunds say',
  'no unit has two stays',
  'no night is sold beyond what there is',
  'counters equal a recount',
  'what has ended holds no night and no unit',
  'no job ends twice, and none that has ended lives',
] as const

const nothing = { deeds: [], mails: [], commands: [], wrong: [], hooks: [], removed: [] }
const evidence = { ...nothing, left: { poisoned: [], missed: [], effects: [] } } as never

type Judge = (rule: string, found: readonly unknown[]) => void

const byDatabase = async (group: Group, houses: readonly SimulatedHouse[], judge: Judge) => {
  const { admin } = group.tenant.world.database
  for (const rule of rules) judge(rule, (await chaosChecks[rule]?.(admin, evidence)) ?? [`no rule ${rule}`])
  judge('no job is dead', await sql(admin, `select kind, last_error from jobs where status = 'dead' limit 20`))
  for (const { propertyId, date } of houses) {
    const { tenantId } = group.tenant
    const day = (days: number) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
    const seen = await look({
      tenantId,
      propertyId,
      day,
      inHouse: (work: never) => inTenant(tenantId, work),
    } as never)
    for (const { rule, examples } of seen) judge(rule, examples)
  }
}

/** The service's own checks, among them that control accounts are what open items come to. */
const byService = async ({ tenant, hand, finance, ids }: Group, judge: Judge) => {
  await hand.post(finance, 'financial/integrity-checks/run', { bookId: ids.bookId })
  await tenant.world.drain({ kinds: ['ledger.check-integrity'] })
  const { data } = await hand.read(finance, `financial/integrity-checks?bookId=${ids.bookId}&waitSeconds=5`)
  const failed = (data as Parsed[]).filter(({ status }) => status === 'failed')
  for (const one of failed) judge(`integrity: ${one.check}`, one.findings ?? [one])
  if ((data as unknown[]).length === 0) judge('integrity checks ran', ['none'])
}

/** Statements of the books say one thing in their several ways. */
const byStatements = async ({ hand, finance, ids }: Group, houses: readonly SimulatedHouse[], judge: Judge) => {
  const first = houses.map(({ inn }) => inn.D).toSorted()[0] ?? ''
  const last =
    houses
      .map(({ date }) => date)
      .toSorted()
      .at(-1) ?? ''
  const read = (path: string, more: Record<string, string> = {}): Promise<Parsed> =>
    hand.read(finance, `${path}?${new URLSearchParams({ bookId: ids.bookId, ...more }).toString()}`)
  const equal = (rule: string, ...values: unknown[]) => {
    if (new Set(values.map(String)).size !== 1) judge(rule, [values])
  }
  const yearStart = (day: string) => `${day.slice(0, 4)}-01-01`
  const ranges =
    first.slice(0, 4) === last.slice(0, 4)
      ? [[first, last] as const]
      : [[first, `${first.slice(0, 4)}-12-31`] as const, [yearStart(last), last] as const]
  for (const [startDate, endDate] of ranges) {
    const range = { startDate, endDate }
    const trial = await read('reports/trial-balance', range)
    equal('a trial balance has as much debit as credit', trial.totals.debit, trial.totals.credit)
    equal('closing balances sum to zero', trial.totals.closing, 0)
    const [direct, indirect] = [
      await read('reports/cash-flow', range),
      await read('reports/cash-flow', { ...range, method: 'indirect' }),
    ]
    for (const { totals } of [direct, indirect])
      equal(
        'opening cash and flows are the closing cash',
        totals.opening + totals.operating + totals.investing + totals.financing,
        totals.closing,
      )
    equal('both methods close with one amount of cash', direct.totals.closing, indirect.totals.closing)
    const income = await read('reports/income-statement', { ...range, startDate: yearStart(startDate) })
    const departments = await read('reports/income-statement', {
      ...range,
      startDate: yearStart(startDate),
      view: 'departments',
    })
    const result = (statement: Parsed) =>
      (statement.data as Parsed[]).find(({ key }) => key === 'result')?.amount as number
    equal('both income statements end in one result', result(income), result(departments))
    const revenue = (trial.data as Parsed[])
      .filter(({ code }) => /^[4-9]/.test(String(code)))
      .reduce((sum: number, row: Parsed) => sum + (row.closing as number), 0)
    equal('the result is what accounts of revenue and expense hold', result(income), -revenue)
    const sheet = await read('reports/balance-sheet', { asOf: endDate })
    const { assets, liabilities, equity: own, resultNotClosed, otherProperties } = sheet.totals
    equal('assets are liabilities, equity and the result not closed', assets, liabilities + own + resultNotClosed)
    equal('a whole book leaves nothing between properties', otherProperties, 0)
  }
}

/** The rules that must hold once a run has come to rest. */
export const judgeGroup = async (group: Group, houses: readonly SimulatedHouse[]): Promise<Violation[]> => {
  const violations: Violation[] = []
  const judge: Judge = (rule, found) => {
    if (found.length > 0) violations.push({ rule, count: found.length, examples: found.slice(0, 3) })
  }
  await byDatabase(group, houses, judge)
  await byService(group, judge)
  await byStatements(group, houses, judge)
  return violations
}
