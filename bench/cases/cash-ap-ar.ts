import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { createCustomer, createReceivable, issueReceivable, startDunning } from '../../db/accounts-receivable/index.ts'
import { createCashAccount, receiveStatement, recordMovement } from '../../db/cash/index.ts'
import { assignNumber } from '../../db/documents/index.ts'
import { raisePosting } from '../../db/financial/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { runDue } from '../../workers/lib/run-due.ts'
import { registerModules } from '../../db/register.ts'
import { ofxFile } from '../../test/cash/statement-files.ts'
import { makeUser } from '../../test/auth/support.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import type { Bench } from '../bench.ts'
import { capture } from '../capture.ts'
import { load } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { replay } from '../replay.ts'
import { judge, percentile } from '../report.ts'
import { asked, sized } from '../size.ts'

const rounds = sized(3, 1)
const seconds = sized(5, 2)
const inFlight = 8
const documents = sized(1_500, 150)
const statementLines = sized(10_000, 1_000)
const customers = sized(5_000, 100)
const perCustomer = 10
const pageOfLines = 100

/** Work of so many lanes for a while. Answers how much of it was done a second. */
const perSecond = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  let done = 0
  const lane = async () => {
    while (performance.now() - began < seconds * 1_000) {
      await work()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return done / ((performance.now() - began) / 1_000)
}

/** Does each piece of work, some at a time. Answers how long it took. */
const all = async <T>(given: readonly T[], work: (one: T) => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  const left = [...given]
  const lane = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one)
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return performance.now() - began
}

const bankOf = (house: House, code: string) =>
  house.inHouse((trx) =>
    createCashAccount(trx, {
      bookId: house.bookId,
      kind: 'bank',
      code,
      name: 'Banco',
      bankCode: '341',
      number: '12345-6',
      opening: { amount: 100_000_000, on: house.day(-30) },
    }),
  )

/** Money of a customer, as receivables book it: the movement, the sum of its account, and its posting. */
const book = (house: House, cashAccountId: string, amount = 1_250) =>
  inTenant(house.tenantId, async (trx) => {
    const id = randomUUID()
    const { ledgerAccountId } = await recordMovement(trx, {
      cashAccountId,
      amount,
      kind: 'receipt',
      source: { type: 'receipt', id },
      description: 'Receipt',
      bookedOn: house.today,
    })
    await raisePosting(trx, {
      event: 'accounts-receivable.receipt_recorded',
      source: { id },
      bookId: house.bookId,
      postingDate: house.today,
      payload: { amounts: { amount }, accounts: { money: ledgerAccountId }, documents: { receipt: id } },
    })
  })

const movements = async (house: House, cashAccountId: string) => {
  const once = () => book(house, cashAccountId)
  await once()
  const [one, other] = [await capture(once), await capture(once)]
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await perSecond(once))
    theirs.push((await replay(one, other, { url: settings.databaseUrl, seconds, inFlight })).perSecond)
  }
  const middle = percentile(ours, 0.5)
  return {
    statements: one.length,
    results: [
      judge(
        { name: 'movements on one account', unit: 'per second', ours: middle, reference: percentile(theirs, 0.5) },
        { least: 0.5 },
      ),
      judge(
        { name: '500 movements on one account', unit: 'ms', ours: 500_000 / middle, reference: null },
        { most: 1_000 },
      ),
    ],
  }
}

const issuing = async (house: House): Promise<string[]> => {
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const as = { actor: { type: 'user' as const, id: userId } }
  const inDesk = <T>(work: (trx: Trx) => Promise<T>) => inTenant(house.tenantId, work, as)
  const [account] = await house.inHouse((trx) =>
    sql<{ id: string }>(trx, `select id from account where book_id = ? and code = '4.3.08'`, [house.bookId]),
  )
  const customerId = await inDesk((trx) =>
    createCustomer(trx, { kind: 'company', legalName: 'Engenharia do Mar S.A.', currency: 'BRL' }),
  )
  const ids: string[] = []
  await all(
    Array.from({ length: documents }, (_, index) => index),
    () =>
      inDesk(async (trx) => {
        const id = await createReceivable(trx, {
          bookId: house.bookId,
          customerId,
          issuedOn: house.today,
          lines: [{ description: 'Hall', unitAmount: 25_000, accountId: account?.id ?? '' }],
        })
        await issueReceivable(trx, id, null, null)
        ids.push(id)
      }),
  )
  return ids
}

const numbers = async (house: House) => {
  const ids = await issuing(house)
  const ms = await all(ids, (id) => inTenant(house.tenantId, (trx) => assignNumber(trx, 'receivable', id)))
  const [row] = await house.inHouse((trx) =>
    sql<{ count: number; most: number }>(
      trx,
      `select count(distinct number)::int as count, max(number)::int as most from receivable where number is not null`,
    ),
  )
  return [
    judge(
      {
        name: '300 numbers of one series, with their postings',
        unit: 'ms',
        ours: (ms / ids.length) * 300,
        reference: null,
      },
      { most: 1_000 },
    ),
    judge(
      {
        name: 'holes and doubles',
        unit: 'numbers',
        ours: ids.length - (row?.count ?? 0) + (row?.most ?? 0) - ids.length,
        reference: null,
      },
      { most: 0 },
    ),
  ]
}

/** Lines of a month whose amounts come again and again, as those of a bank do. */
const file = (house: House, count: number): string =>
  ofxFile(
    Array.from({ length: count }, (_, index) => ({
      on: house.day(-(index % 28) - 1),
      amount: `${index % 3 === 0 ? '-' : ''}${10 + (index % 200)}.50`,
      id: `L${index}`,
      memo: `PAGAMENTO ${index % 97} CLIENTE`,
    })),
    { balance: '0.00', to: house.day(-1) },
  ).toString('base64')

/** The greatest growth of memory while a piece of work is done, in MB. */
const growth = async (work: () => Promise<unknown>): Promise<{ ms: number; mb: number }> => {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  const began = performance.now()
  await work()
  clearInterval(watch)
  return { ms: performance.now() - began, mb: (Math.max(most, process.memoryUsage().rss) - before) / 1_048_576 }
}

const imported = async (house: House, cashAccountId: string) => {
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const take = (count: number) => async () => {
    const given = { cashAccountId, format: 'ofx', fileName: `${count}.ofx`, content: file(house, count) } as const
    await inTenant(house.tenantId, (trx) => receiveStatement(trx, given), { actor: { type: 'user', id: userId } })
    await runDue({ kinds: ['reports.import-statement'] })
  }
  await take(100)()
  const { ms, mb } = await growth(take(statementLines))
  const [row] = await house.inHouse((trx) =>
    sql<{ count: number }>(trx, `select count(*)::int as count from bank_statement_line`),
  )
  return [
    judge(
      { name: `${statementLines} lines of a statement, received and imported`, unit: 'ms', ours: ms, reference: null },
      { most: 10_000 },
    ),
    judge({ name: 'growth of memory meanwhile', unit: 'MB', ours: mb, reference: null }, { most: 200 }),
    judge({ name: 'lines kept', unit: 'lines', ours: row?.count ?? 0, reference: null }, null),
  ]
}

const suggestions = async (house: House, cashAccountId: string) => {
  await all(
    Array.from({ length: sized(2_000, 100) }, (_, index) => 1_050 + (index % 200) * 100),
    (amount) => book(house, cashAccountId, amount),
  )
  const keys = await inTenant(house.tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 20; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read'] })).key)
    return made
  })
  const api = await startApi()
  const path = `/api/tenants/${house.tenantId}/cash/bank-statement-lines?cashAccountId=${cashAccountId}&status=unmatched&limit=${pageOfLines}`
  const shot = (index: number) => ({ path, headers: { 'x-api-key': keys[index % keys.length] ?? '' } })
  await load(api.baseUrl, shot, { inFlight: 1, expected: 200, seconds: 1 })
  const { p95Ms } = await load(api.baseUrl, shot, { inFlight: 1, expected: 200, seconds })
  await api.stop()
  return judge(
    { name: `${pageOfLines} lines with their suggestions, p95`, unit: 'ms', ours: p95Ms, reference: null },
    { most: 80 },
  )
}

/** Customers with an address, each with invoices of which all installments are overdue. */
const overdue = async (house: House) => {
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const ids: string[] = []
  await all(
    Array.from({ length: customers }, (_, index) => index),
    async (index) => {
      const given = {
        kind: 'company',
        legalName: `Cliente ${index}`,
        currency: 'BRL',
        email: `c${index}@example.com`,
      } as const
      ids.push(
        await inTenant(house.tenantId, (trx) => createCustomer(trx, given), { actor: { type: 'user', id: userId } }),
      )
    },
  )
  await house.inHouse((trx) =>
    sql(
      trx,
      `with billed as (insert into receivable (tenant_id, book_id, customer_id, kind, series, number, issued_on, posting_on, currency, total, status, posted_at)
         select :tenantId, :bookId, c, 'invoice', '1990', row_number() over (), '2020-01-01', '2020-01-01', 'BRL', ${perCustomer} * 500, 'issued', now()
         from unnest(cast(:ids as uuid[])) c returning id)
       insert into receivable_installment (tenant_id, receivable_id, seq, due_on, amount)
       select :tenantId, b.id, s, current_date - 10 - s, 500 from billed b cross join generate_series(1, ${perCustomer}) s`,
      { tenantId: house.tenantId, bookId: house.bookId, ids },
    ),
  )
  await house.inHouse((trx) =>
    sql(
      trx,
      `insert into receivable_settings (tenant_id, book_id, dunning_enabled, dunning_steps) values (?, ?, true, ?::jsonb)`,
      [house.tenantId, house.bookId, JSON.stringify([{ level: 1, days: 5, channels: ['email'], stopCredit: false }])],
    ),
  )
}

const dunning = async (house: House) => {
  await overdue(house)
  await house.inHouse((trx) => startDunning(trx, { id: house.bookId, timeZone: 'America/Sao_Paulo' }, null))
  const began = performance.now()
  await runDue({ kinds: ['messages.run-dunning'] })
  const ms = performance.now() - began
  const [row] = await house.inHouse((trx) =>
    sql<{ count: number }>(trx, `select count(*)::int as count from dunning_notice where status = 'queued'`),
  )
  return [
    judge(
      { name: `a run over ${customers * perCustomer} overdue installments`, unit: 'ms', ours: ms, reference: null },
      { most: 10_000 },
    ),
    judge({ name: 'notices of it', unit: 'notices', ours: row?.count ?? 0, reference: null }, null),
  ]
}

/** Money in and out: movements, numbers, statements of banks and reminders, each of which `--only` names. */
export const bench: Bench = async ({ admin }) => {
  registerModules()
  const house = await makeHouse({ units: 1 })
  const bank = await bankOf(house, 'BANCO')
  const booked = asked('movements') ? await movements(house, bank) : { statements: 0, results: [] }
  const given = asked('numbers') ? await numbers(house) : []
  const other = await bankOf(house, 'EXTRATO')
  const taken = asked('statement') || asked('suggestions') ? await imported(house, other) : []
  await sql(admin, `vacuum analyze`)
  const suggested = asked('suggestions') ? [await suggestions(house, other)] : []
  const reminded = asked('reminders') ? await dunning(await makeHouse({ units: 1 })) : []
  return {
    results: [...booked.results, ...given, ...taken, ...suggested, ...reminded],
    notes: [
      `Movements: the command of receipts, in one process, ${inFlight} at a time, all on one account: the movement, the sums of its account and its posting. Reference: pg alone repeats its ${booked.statements} statements with fresh ids, as many at a time.`,
      `Numbers: ${documents} invoices of one series that are issuing, numbered and posted by the command of the worker, ${inFlight} at a time.`,
      'Statement: OFX, from the request that keeps it to the last line stored, by the job in this process.',
      'Suggestions: over HTTP with an API key, compiled, one request after the other; the account has movements of the same amounts.',
      `Reminders: ${customers} customers with an address; the job plans, stores and writes a message for each of them.`,
    ],
  }
}
