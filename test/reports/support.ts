import { randomUUID } from 'node:crypto'
import { addDays } from '../../config/time.ts'
import { provisionBook } from '../../db/financial/index.ts'
import { writeEntries, writeLines } from '../../db/financial/entries.ts'
import type { NewEntry } from '../../db/financial/entries.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { addProperty } from '../financial/support.ts'

/** Numbers that follow from a seed, from 0 up to 1. */
export const randomFrom = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export type BookOfYears = {
  tenantId: string
  bookId: string
  /** First day of its first year. */
  from: string
  properties: string[]
  centers: string[]
}

/** A book of two years and more, with properties and cost centres, and nothing posted. */
export const makeBook = (tenantId: string, { currency = 'BRL', startsOn = '2024-01-01' } = {}): Promise<BookOfYears> =>
  inTenant(tenantId, async (trx) => {
    const bookId = await provisionBook(trx, {
      name: `Livro ${currency} ${randomUUID().slice(0, 8)}`,
      countryCode: 'BR',
      currency,
      timeZone: 'America/Sao_Paulo',
      locale: 'pt-BR',
      isDefault: false,
      firstYearStartsOn: startsOn,
    })
    const properties = currency === 'BRL' ? [await addProperty(trx, bookId), await addProperty(trx, bookId)] : []
    const centers = await sql<{ id: string }>(
      trx,
      `insert into cost_center (tenant_id, book_id, code, name) values (?, ?, '10', 'Hospedagem'), (?, ?, '20', 'Restaurante') returning id`,
      [tenantId, bookId, tenantId, bookId],
    )
    return { tenantId, bookId, from: startsOn, properties, centers: centers.map(({ id }) => id) }
  })

export type PlainLine = {
  code: string
  debit?: number
  credit?: number
  propertyId?: string | null
  costCenterId?: string | null
  partyId?: string | null
}
export type PlainEntry = { on: string; description?: string; closing?: boolean; lines: readonly PlainLine[] }

/** Posts entries as events would, so that control accounts take them, too. */
export const postPlain = (
  { tenantId, bookId }: Pick<BookOfYears, 'tenantId' | 'bookId'>,
  entries: readonly PlainEntry[],
) =>
  inTenant(tenantId, async (trx) => {
    const accounts = await sql<{ id: string; code: string }>(trx, `select id, code from account where book_id = ?`, [
      bookId,
    ])
    const idOf = new Map(accounts.map(({ id, code }) => [code, id]))
    const [book] = await sql<{ currency: string }>(trx, `select currency from book where id = ?`, [bookId])
    const journals = await sql<{ id: string; kind: string }>(trx, `select id, kind from journal where book_id = ?`, [
      bookId,
    ])
    const periods = await sql<{ id: string; kind: string; startsOn: string; endsOn: string }>(
      trx,
      `select id, kind, starts_on, ends_on from fiscal_period where book_id = ?`,
      [bookId],
    )
    const made = entries.map((entry): NewEntry => {
      const kind = entry.closing ? 'closing' : 'regular'
      const period = periods.find((one) => one.kind === kind && one.startsOn <= entry.on && entry.on <= one.endsOn)
      const journal = journals.find((one) => one.kind === (entry.closing ? 'closing' : 'general'))
      if (!period || !journal || !book) throw new Error(`no place for an entry on ${entry.on}`)
      return {
        id: randomUUID(),
        bookId,
        journalId: journal.id,
        periodId: period.id,
        postingDate: entry.on,
        currency: book.currency,
        kind: entry.closing ? 'closing' : 'standard',
        reversesEntryId: null,
        sourceType: 'test.entry',
        sourceId: randomUUID(),
        sourceSeq: 0,
        description: entry.description ?? 'Lançamento',
        lines: entry.lines.map((line) => ({
          accountId: idOf.get(line.code) ?? '',
          side: line.debit ? 'debit' : 'credit',
          amount: line.debit ?? line.credit ?? 0,
          propertyId: line.propertyId ?? null,
          costCenterId: line.costCenterId ?? null,
          partyType: line.partyId ? 'book' : null,
          partyId: line.partyId ?? null,
          documentType: 'test',
          documentId: bookId,
          taxCodeId: null,
          taxBase: null,
          memo: '',
        })),
      }
    })
    await writeEntries(trx, made)
    await writeLines(trx, made)
  })

const codes = [
  '1.1.2.01', '1.1.1.03', '1.1.3.01', '1.1.3.02', '1.1.3.80', '1.1.4.01', '1.2.3.03', '1.2.9.01', '2.1.1.01', '2.1.3.05', '2.1.5.01', '2.1.5.04',
  '2.2.1.01', '3.1.01', '3.2.01', '4.1.01', '4.1.02', '4.1.09', '4.2.01', '4.2.09', '4.3.01', '4.4.06', '4.8.01', '5.1.01', '5.2.01', '6.1.02', '6.2.01',
  '6.5.01', '6.6.01', '6.7.01', '6.8.01', '7.1', '8.2', '9.1',
] // prettier-ignore

/** Balanced entries on days of two and a half years, over properties and cost centres, some with many lines. */
export const randomEntries = (book: BookOfYears, count: number, seed: number): PlainEntry[] => {
  const random = randomFrom(seed)
  const below = (most: number) => Math.floor(random() * most)
  const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T
  return Array.from({ length: count }, () => {
    const many = 1 + below(4)
    // Each line has its own property, so that entries lie over several of them.
    const lines = Array.from({ length: many }, (): PlainLine => {
      const code = pick(codes)
      const amount = 1 + below(random() < 0.1 ? 90_000_000 : 90_000)
      const isDebit = random() < 0.5
      return {
        code,
        ...(isDebit ? { debit: amount } : { credit: amount }),
        propertyId: random() < 0.2 ? null : pick(book.properties),
        costCenterId: code >= '4' && random() < 0.6 ? pick(book.centers) : null,
      }
    })
    const open = lines.reduce((sum, { debit = 0, credit = 0 }) => sum + debit - credit, 0)
    const rest =
      open === 0
        ? []
        : [
            {
              code: pick(codes),
              ...(open > 0 ? { credit: open } : { debit: -open }),
              propertyId: pick(book.properties),
            },
          ]
    const all: PlainLine[] = [...lines, ...rest]
    return {
      on: addDays(book.from, below(900)),
      lines: all.length > 1 ? all : [...all, { code: '3.9.01', debit: 5 }, { code: '1.1.2.01', credit: 5 }],
    }
  })
}

export type FullLine = {
  accountId: string
  code: string
  class: string
  side: string
  section: string | null
  cashFlow: string | null
  on: string
  debit: number
  credit: number
  propertyId: string | null
  costCenterId: string | null
  entryId: string
  closing: boolean
}

/** Every line of a book, for sums that take nothing from balances. */
export const allLines = ({ tenantId, bookId }: Pick<BookOfYears, 'tenantId' | 'bookId'>): Promise<FullLine[]> =>
  inTenant(tenantId, (trx) =>
    sql<FullLine>(
      trx,
      `select l.account_id, a.code, a.class, a.side, a.section, a.cash_flow, l.posting_date as "on", l.debit, l.credit, l.property_id, l.cost_center_id,
         l.entry_id, e.kind = 'closing' as closing
       from journal_line l join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id
       join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
       where l.book_id = ? order by l.posting_date, e.sequence, l.line_no`,
      [bookId],
    ),
  )
