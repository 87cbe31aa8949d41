import { randomUUID } from 'node:crypto'
import { chart, journalKinds } from '../../config/financial.ts'
import type { ChartAccount, JournalKind } from '../../config/financial.ts'
import { todayIn, addDays } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { expression, insertRow } from '../lib/records.ts'
import { keptDocument } from './book-document.ts'
import { Book } from './models.ts'
import { createYear, periodsOf, yearStart } from './years.ts'

export type NewBook = {
  name: string
  legalName?: string
  countryCode: string
  /** CNPJ or CPF in Brazil. */
  document?: string | null
  taxRegime?: 'simples' | 'presumed_profit' | 'actual_profit' | 'other'
  currency: string
  timeZone: string
  /** Locale of the tenant; names of accounts and journals are Portuguese for pt, else English. */
  locale: string
  fiscalYearStartMonth?: number
  /** The tenant's first book is its default one, unless said otherwise. */
  isDefault?: boolean
  /** First day of its first fiscal year; that of the present one by default. */
  firstYearStartsOn?: string
  /** `none` starts without accounts and tax codes. */
  template?: 'hotel' | 'none'
}

/** Accounts of taxes that only Brazil has. */
const brazilian = new Set([
  '2.1.3.01',
  '2.1.3.02',
  '2.1.3.03',
  '2.1.3.04',
  '2.1.3.08',
  '2.1.3.09',
  '2.1.3.11',
  '4.8.01',
  '4.8.02',
  '4.8.03',
  '4.8.04',
  '9.2',
])

const journals: Record<JournalKind, { code: string; en: string; pt: string }> = {
  general: { code: 'GEN', en: 'General', pt: 'Geral' },
  sales: { code: 'SAL', en: 'Sales', pt: 'Vendas' },
  purchases: { code: 'PUR', en: 'Purchases', pt: 'Compras' },
  cash: { code: 'CSH', en: 'Cash and banks', pt: 'Caixa e bancos' },
  stock: { code: 'STK', en: 'Stock', pt: 'Estoque' },
  opening: { code: 'OPN', en: 'Opening', pt: 'Abertura' },
  closing: { code: 'CLS', en: 'Closing', pt: 'Encerramento' },
}

/** Taxes on revenue that a Brazilian book starts with, without rates. */
const brazilianTaxes = [
  {
    code: 'ISS',
    name: 'ISS',
    liability: 'service_tax_payable',
    contra: 'service_tax_on_revenue',
    regimes: ['presumed_profit', 'actual_profit'],
  },
  {
    code: 'PIS',
    name: 'PIS',
    liability: 'pis_payable',
    contra: 'pis_on_revenue',
    regimes: ['presumed_profit', 'actual_profit'],
  },
  {
    code: 'COFINS',
    name: 'COFINS',
    liability: 'cofins_payable',
    contra: 'cofins_on_revenue',
    regimes: ['presumed_profit', 'actual_profit'],
  },
  {
    code: 'SIMPLES',
    name: 'Simples Nacional',
    liability: 'simples_payable',
    contra: 'simples_on_revenue',
    regimes: ['simples'],
  },
]
const revenueSections = ['rooms_revenue', 'food_beverage_revenue', 'other_operated_revenue']

const parentCode = (code: string) => code.split('.').slice(0, -1).join('.')

/** The accounts of a country's default chart, names in the language of the locale. */
export const chartFor = (countryCode: string, locale: string): (ChartAccount & { name: string })[] => {
  const portuguese = countryCode === 'BR' && /^pt\b/.test(locale)
  return chart
    .filter((account) => countryCode === 'BR' || !brazilian.has(account.code))
    .map((account) => ({
      ...account,
      name: portuguese
        ? account.namePt
        : countryCode === 'BR'
          ? account.nameEn
          : account.nameEn.replace(/ \(IRPJ\)$/, ''),
    }))
}

/**
 * Makes the book of a legal entity in the caller's transaction: chart of its country, one journal of each kind, tax codes, the
 * present fiscal year and the next. Answers its id.
 */
export const provisionBook = async (trx: Trx, book: NewBook): Promise<string> => {
  const { tenantId } = contextOf(trx)
  const bookId = randomUUID()
  const startMonth = book.firstYearStartsOn
    ? Number(book.firstYearStartsOn.slice(5, 7))
    : (book.fiscalYearStartMonth ?? 1)
  await insertRow(trx, Book, {
    id: bookId,
    name: book.name,
    legalName: book.legalName ?? book.name,
    countryCode: book.countryCode,
    ...(await keptDocument(trx, { id: bookId, countryCode: book.countryCode }, book.document ?? null)),
    taxRegime: book.taxRegime ?? 'other',
    currency: book.currency,
    timeZone: book.timeZone,
    fiscalYearStartMonth: startMonth,
    isDefault:
      book.isDefault ?? expression('not exists (select from book b where b.tenant_id = ? and b.is_default)', tenantId),
  })
  await addJournals(trx, bookId, book)
  if (book.template !== 'none') {
    await addAccounts(trx, bookId, book)
    if (book.countryCode === 'BR') await addTaxCodes(trx, bookId, book.taxRegime ?? 'other')
  }
  const present = yearStart(todayIn(book.timeZone), startMonth)
  for (
    let startsOn = book.firstYearStartsOn ?? present;
    startsOn <= addDays(periodsOf(present).endsOn, 1);
    startsOn = addDays(periodsOf(startsOn).endsOn, 1)
  )
    await createYear(trx, bookId, startsOn)
  return bookId
}

const addJournals = async (trx: Trx, bookId: string, book: NewBook) => {
  const portuguese = /^pt\b/.test(book.locale)
  const rows = journalKinds.map((kind) => ({
    kind,
    code: journals[kind].code,
    name: portuguese ? journals[kind].pt : journals[kind].en,
  }))
  await sql(
    trx,
    `insert into journal (tenant_id, book_id, code, name, kind)
     select ?, ?, j.code, j.name, j.kind from jsonb_to_recordset(?::jsonb) as j (code text, name text, kind text)`,
    [contextOf(trx).tenantId, bookId, JSON.stringify(rows)],
  )
}

const addAccounts = async (trx: Trx, bookId: string, book: NewBook) => {
  const accounts = chartFor(book.countryCode, book.locale)
  const ids = new Map(accounts.map((account) => [account.code, randomUUID()]))
  const rows = accounts.map((account) => ({
    id: ids.get(account.code),
    code: account.code,
    name: account.name,
    class: account.class,
    side: account.side,
    parent_id: ids.get(parentCode(account.code)) ?? null,
    postable: account.postable,
    control: account.control,
    role: account.role,
    section: account.section,
    cash_flow: account.cashFlow,
  }))
  await sql(
    trx,
    `insert into account (tenant_id, book_id, currency, id, code, name, class, side, parent_id, postable, control, role, section, cash_flow)
     select ?, ?, ?, a.*
     from jsonb_to_recordset(?::jsonb) as a (id uuid, code text, name text, class text, side text, parent_id uuid, postable boolean,
       control text, role text, section text, cash_flow text)`,
    [contextOf(trx).tenantId, bookId, book.currency, JSON.stringify(rows)],
  )
}

const addTaxCodes = async (trx: Trx, bookId: string, regime: string) => {
  const rows = brazilianTaxes.map((tax) => ({ ...tax, active: tax.regimes.includes(regime) }))
  await sql(
    trx,
    `insert into tax_code (tenant_id, book_id, kind, code, name, liability_account_id, contra_account_id, sections, active)
     select l.tenant_id, l.book_id, 'period', t.code, t.name, l.id, c.id, ?::text[], t.active
     from jsonb_to_recordset(?::jsonb) as t (code text, name text, liability text, contra text, active boolean)
     join account l on l.tenant_id = ? and l.book_id = ? and l.role = t.liability
     join account c on c.tenant_id = l.tenant_id and c.book_id = l.book_id and c.role = t.contra`,
    [revenueSections, JSON.stringify(rows), contextOf(trx).tenantId, bookId],
  )
}

/** Id of the account that plays a role in the book; a role without an account throws. */
export const accountFor = async (trx: Trx, bookId: string, role: string): Promise<string> => {
  const account = await sqlOne<{ id: string }>(
    trx,
    `select id from account where tenant_id = ? and book_id = ? and role = ?`,
    [contextOf(trx).tenantId, bookId, role],
  )
  if (!account) throw new Error(`no account of the book has the role ${role}`)
  return account.id
}

/** The book that a new property gets: the one named, else the tenant's default one. */
export const defaultBook = (trx: Trx) =>
  sqlOne<{ id: string; currency: string; timeZone: string }>(
    trx,
    `select id, currency, time_zone from book where tenant_id = ? and is_default`,
    [contextOf(trx).tenantId],
  )
