import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import type { World } from '../support/world.ts'

/** A CNPJ with check digits, another one each time. */
export const cnpj = (): string => {
  const digits = Array.from({ length: 12 }, () => Math.floor(Math.random() * 10))
  for (const first of [5, 6]) {
    const weights = digits.map((_, at) => ((first - at - 2 + 80) % 8) + 2)
    const rest = digits.reduce((sum, digit, at) => sum + digit * (weights[at] ?? 0), 0) % 11
    digits.push(rest < 2 ? 0 : 11 - rest)
  }
  return digits.join('')
}

export type Line = Record<string, unknown> & { debit?: number; credit?: number }
/** `code debit` of an account, or `code -credit`. */
export const line = (accountCode: string, amount: number, more: object = {}): Line => ({
  accountCode,
  ...(amount > 0 ? { debit: amount } : { credit: -amount }),
  ...more,
})

/** An accountant at work over HTTP: the people of a tenant, and a book of its own with the years from last year on. */
export const openBook = async (
  world: World,
  {
    taxRegime = 'other',
    ...more
  }: { taxRegime?: string; template?: 'hotel' | 'none'; firstYearStartsOn?: string } & object = {},
) => {
  const house: House = await makeHouse({ units: 1 })
  await forgetLimits(world)
  const [owner, finance, manager] = [
    await openDesk(world, house, 'owner'),
    await openDesk(world, house, 'finance'),
    await openDesk(world, house, 'manager'),
  ]
  const year = Number(house.today.slice(0, 4)) - 1
  const good = async (desk: Desk, method: string, path: string, body?: unknown): Promise<Parsed> => {
    const reply = await desk.send(method, path, body)
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).to.be.below(300)
    return reply.body
  }
  const refused = async (desk: Desk, method: string, path: string, body?: unknown): Promise<[number, string]> => {
    const reply = await desk.send(method, path, body)
    return [reply.status, String(reply.body.code)]
  }
  const book = await good(owner, 'POST', 'financial/books', {
    name: 'Livro',
    legalName: 'Livro Ltda',
    countryCode: 'BR',
    document: cnpj(),
    taxRegime,
    currency: 'BRL',
    timeZone: 'America/Sao_Paulo',
    firstYearStartsOn: `${year}-01-01`,
    template: 'hotel',
    ...more,
  })
  const bookId = book.id as string
  const rows = <Row = Parsed>(text: string, values: Record<string, unknown> = {}): Promise<Row[]> =>
    sql<Row>(world.database.admin, text, { bookId, tenantId: house.tenantId, ...values })
  const periodOf = async (on: string, kind = 'regular'): Promise<string> => {
    const [found] = await rows<{ id: string }>(
      `select id from fiscal_period where book_id = :bookId and kind = :kind and cast(:on as date) between starts_on and ends_on`,
      { on, kind },
    )
    return found?.id ?? ''
  }
  const account = async (code: string): Promise<string> => {
    const [found] = await rows<{ id: string }>(`select id from account where book_id = :bookId and code = :code`, {
      code,
    })
    expect(found, code).not.to.equal(undefined)
    return found?.id ?? ''
  }
  const entry = (postingDate: string, lines: readonly Line[], extra: object = {}, desk = finance) =>
    good(desk, 'POST', 'financial/ledger-entries', { bookId, postingDate, description: 'Entry', lines, ...extra })
  /** Balances of accounts by code over periods of regular months: + debit, − credit. */
  const balances = async (from: string, to: string): Promise<Record<string, number>> => {
    const found = await rows<{ code: string; balance: number }>(
      `select a.code, cast(sum(l.debit - l.credit) as bigint) as balance from journal_line l join account a on a.id = l.account_id
       where l.book_id = :bookId and l.posting_date between cast(:from as date) and cast(:to as date) group by 1`,
      { from, to },
    )
    return Object.fromEntries(found.map(({ code, balance }) => [code, Number(balance)]))
  }
  const moved = async (from: string, to: string): Promise<[number, number]> => {
    const [found] = await rows<{ debit: string; credit: string }>(
      `select sum(debit) as debit, sum(credit) as credit from journal_line where book_id = :bookId and posting_date between cast(:from as date)
       and cast(:to as date)`,
      { from, to },
    )
    return [Number(found?.debit), Number(found?.credit)]
  }
  /** Runs the checks over HTTP and answers the names of those that fail. */
  const failing = async (): Promise<string[]> => {
    await good(finance, 'POST', 'financial/integrity-checks/run', { bookId })
    await world.drain({ kinds: ['ledger.check-integrity'] })
    const { run, data } = await good(finance, 'GET', `financial/integrity-checks?bookId=${bookId}&waitSeconds=5`)
    // A run that failed on its way keeps the results of an earlier one.
    expect(run.status).to.be.oneOf(['passed', 'failed'])
    return (data as { check: string; status: string }[]).flatMap(({ check, status }) =>
      status === 'failed' ? [check] : [],
    )
  }
  const move = (desk: Desk, periodId: string, verb: string, body: object = {}) =>
    good(desk, 'POST', `financial/periods/${periodId}/${verb}`, body)
  /** Takes the months from one to another through both steps. */
  const closeMonths = async (until = 12, from = 1) => {
    for (const verb of ['soft-close', 'close'])
      for (let month = from; month <= until; month += 1) {
        if (verb === 'close' && month === from) {
          await world.drain()
          expect(await failing()).to.deep.equal([])
        }
        await move(finance, await periodOf(`${year}-${String(month).padStart(2, '0')}-01`), verb)
      }
    await world.drain()
  }
  const property = async (): Promise<string> => {
    const code = randomUUID().slice(0, 8)
    const made = await good(owner, 'POST', 'properties', {
      code: code.toUpperCase(),
      slug: `casa-${code}`,
      name: 'Casa',
      kind: 'inn',
      timezone: 'America/Sao_Paulo',
      currency: 'BRL',
      locales: ['pt-BR'],
      bookId,
    })
    return made.id as string
  }
  return {
    house,
    owner,
    finance,
    manager,
    bookId,
    year,
    good,
    refused,
    rows,
    periodOf,
    account,
    entry,
    balances,
    moved,
    failing,
    move,
    closeMonths,
    property,
    on: (monthAndDay: string) => `${year}-${monthAndDay}`,
    calm: () => forgetLimits(world),
  }
}

export type Accountant = Awaited<ReturnType<typeof openBook>>
