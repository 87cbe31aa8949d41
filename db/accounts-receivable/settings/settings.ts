import { settings } from '../../../config/env.ts'
import { unprocessable, versionConflict } from '../../../config/errors.ts'
import type { DunningStep } from '../../../config/dunning.ts'
import type { FiscalAdapter } from '../../../config/fiscal.ts'
import { todayIn } from '../../../config/time.ts'
import { readSeries, setSeries } from '../../documents/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow } from '../../lib/records.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import { checkSteps } from '../rules/dunning.ts'
import type { LateChargeRates } from '../rules/late-charges.ts'
import { ReceivableSettings } from './models.ts'
import type { FiscalCodes, SettingsRecord } from './models.ts'

/** Kinds of documents whose numbers a book sets. All but `rps` begin anew each year. */
export const numberedKinds = ['invoice', 'credit_note', 'receipt', 'rps'] as const
type NumberedKind = (typeof numberedKinds)[number]
type Numbering = Record<NumberedKind, { prefix: string; next: number }>

export type DunningSettings = { enabled: boolean; steps: DunningStep[]; minimum: number; hour: number }
export type FiscalSettings = FiscalCodes & { adapter: FiscalAdapter; automatic: boolean; issRate: number }

/** Settings of a book as they stand; `version` is 0 while it has none of its own. */
export type Settings = {
  bookId: string
  version: number
  numbering: Numbering
  dunning: DunningSettings
  lateCharges: LateChargeRates
  fiscal: FiscalSettings & { hasCredentials: boolean }
  badDebtAccountId: string | null
  allowanceAccountId: string | null
}

type Parts<Whole> = { [Field in keyof Whole]?: Whole[Field] | undefined }
/** A change of settings; fields left out stay as they are. `credentials` are kept sealed, and null takes them away. */
export type SettingsChange = {
  numbering?:
    | { [Kind in NumberedKind]?: { prefix?: string | undefined; next?: number | undefined } | undefined }
    | undefined
  numberingReason?: string | undefined
  dunning?: Parts<DunningSettings> | undefined
  lateCharges?: Parts<LateChargeRates> | undefined
  fiscal?: (Parts<FiscalSettings> & { credentials?: string | null | undefined }) | undefined
  badDebtAccountId?: string | null | undefined
  allowanceAccountId?: string | null | undefined
}

type Book = { id: string; timeZone: string }

const noCodes: FiscalCodes = {
  cityCode: null,
  cityRegistration: null,
  serviceCode: null,
  nationalServiceCode: null,
  nbsCode: null,
}
const usual = {
  version: 0,
  dunningEnabled: false,
  dunningSteps: [] as DunningStep[],
  dunningMinimum: 0,
  dunningHour: 9,
  fineRate: 0,
  monthlyInterestRate: 0,
  fiscalAdapter: 'none' as FiscalAdapter,
  fiscalAutomatic: false,
  fiscalCodes: {} as Partial<FiscalCodes>,
  issRate: 0,
  fiscalCredentials: null as Buffer | null,
  badDebtAccountId: null as string | null,
  allowanceAccountId: null as string | null,
}

const credentialsPlace = (rowId: string) => ({ table: 'receivable_settings', rowId, purpose: 'credentials' })

const findSettings = (trx: Trx, bookId: string): Promise<SettingsRecord | null> =>
  sqlOne<SettingsRecord>(trx, `select * from receivable_settings where tenant_id = ? and book_id = ?`, [
    contextOf(trx).tenantId,
    bookId,
  ])

const yearOf = (kind: NumberedKind, today: string): number | null => (kind === 'rps' ? null : Number(today.slice(0, 4)))

/** Prefix and next number of each kind, in the year that the book has now. */
const numberingOf = async (trx: Trx, book: Book): Promise<Numbering> => {
  const series = await readSeries(trx, book.id)
  const today = todayIn(book.timeZone)
  const of = (kind: NumberedKind) => {
    const year = yearOf(kind, today)
    const mine = series.filter((one) => one.kind === kind)
    const stands = mine.find((one) => one.year === year)
    // A new year carries the prefix of the one before.
    const prefix = (stands ?? mine.find((one) => (one.year ?? 0) < (year ?? 0)))?.prefix ?? ''
    return { prefix, next: stands?.next ?? 1 }
  }
  return { invoice: of('invoice'), credit_note: of('credit_note'), receipt: of('receipt'), rps: of('rps') }
}

/** Settings of receivables of a book, without its credentials. */
export const readSettings = async (trx: Trx, book: Book): Promise<Settings> => {
  const row = (await findSettings(trx, book.id)) ?? usual
  return {
    bookId: book.id,
    version: row.version,
    numbering: await numberingOf(trx, book),
    dunning: {
      enabled: row.dunningEnabled,
      steps: row.dunningSteps,
      minimum: row.dunningMinimum,
      hour: row.dunningHour,
    },
    lateCharges: { fineRate: row.fineRate, monthlyInterestRate: row.monthlyInterestRate },
    fiscal: {
      ...noCodes,
      ...row.fiscalCodes,
      adapter: row.fiscalAdapter,
      automatic: row.fiscalAutomatic,
      issRate: row.issRate,
      hasCredentials: row.fiscalCredentials !== null,
    },
    badDebtAccountId: row.badDebtAccountId,
    allowanceAccountId: row.allowanceAccountId,
  }
}

/** The credentials of a book at its authority; null where it has none. */
export const fiscalCredentials = async (trx: Trx, bookId: string): Promise<string | null> => {
  const row = await findSettings(trx, bookId)
  return row?.fiscalCredentials ? unseal<string>(trx, 'tenant', credentialsPlace(row.id), row.fiscalCredentials) : null
}

/** Tells whether this installation speaks with an authority. */
export const isServed = (adapter: FiscalAdapter): boolean => adapter === 'sandbox' && settings.sandboxFiscal

const refuseAdapter = (adapter: FiscalAdapter | undefined) => {
  if (adapter === undefined || adapter === 'none' || isServed(adapter)) return
  throw unprocessable('fiscal_not_configured', 'This installation does not speak with this authority', [
    { field: 'fiscal.adapter', message: `${adapter} is off` },
  ])
}

/** Accounts must take postings, and be no control account: what they are about has no sub-ledger. 422 `account_not_usable`. */
const refuseAccounts = async (trx: Trx, bookId: string, change: SettingsChange) => {
  for (const field of ['badDebtAccountId', 'allowanceAccountId'] as const) {
    const id = change[field]
    if (!id) continue
    const account = await sqlOne<{ usable: boolean }>(
      trx,
      `select postable and status = 'active' and control is null as usable from account where tenant_id = ? and book_id = ? and id = ?`,
      [contextOf(trx).tenantId, bookId, id],
    )
    if (!account?.usable)
      throw unprocessable('account_not_usable', 'The account cannot be used', [
        { field, message: account ? 'takes no postings of this kind' : 'is no account of the book' },
      ])
  }
}

const setNumbering = async (trx: Trx, book: Book, { numbering = {}, numberingReason = '' }: SettingsChange) => {
  const today = todayIn(book.timeZone)
  const stands = await numberingOf(trx, book)
  const reason = numberingReason.trim() === '' ? null : numberingReason
  for (const kind of numberedKinds) {
    const wanted = numbering[kind]
    if (!wanted) continue
    const { prefix = stands[kind].prefix, next = stands[kind].next } = wanted
    if (prefix !== stands[kind].prefix || next !== stands[kind].next)
      await setSeries(trx, { bookId: book.id, kind, year: yearOf(kind, today) }, { prefix, next, reason })
  }
}

const codesIn = (fiscal: Partial<FiscalCodes>): Partial<FiscalCodes> =>
  Object.fromEntries(
    Object.keys(noCodes).flatMap((name) => {
      const value = fiscal[name as keyof FiscalCodes]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/**
 * Sets what is given of the settings of a book. 400 for steps that do not go up; 409 `version_conflict`; 422 `number_not_growing`, `account_not_usable`,
 * `fiscal_not_configured` for an authority that this installation does not speak with.
 */
export const setSettings = async (
  trx: Trx,
  book: Book,
  change: SettingsChange,
  expectedVersion: number | null,
): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (change.dunning?.steps) checkSteps(change.dunning.steps)
  refuseAdapter(change.fiscal?.adapter)
  await refuseAccounts(trx, book.id, change)
  // One after another, so that the first settings of a book are made once.
  await sql(trx, `select 1 from book where tenant_id = ? and id = ? for no key update`, [tenantId, book.id])
  const before = await findSettings(trx, book.id)
  if (expectedVersion !== null && expectedVersion !== (before?.version ?? 0))
    throw versionConflict(before?.version ?? 0)
  if (!before) await sql(trx, `insert into receivable_settings (book_id, version) values (?, 0)`, [book.id])
  const row = before ?? (await findSettings(trx, book.id))
  if (!row) throw new Error('the settings do not stand')
  const { dunning = {}, lateCharges = {}, fiscal = {} } = change
  const { credentials } = fiscal
  await changeRow(trx, ReceivableSettings, row.id, {
    dunningEnabled: dunning.enabled ?? row.dunningEnabled,
    dunningSteps: dunning.steps,
    dunningMinimum: dunning.minimum,
    dunningHour: dunning.hour,
    fineRate: lateCharges.fineRate,
    monthlyInterestRate: lateCharges.monthlyInterestRate,
    fiscalAdapter: fiscal.adapter,
    fiscalAutomatic: fiscal.automatic,
    fiscalCodes: { ...row.fiscalCodes, ...codesIn(fiscal as Partial<FiscalCodes>) },
    issRate: fiscal.issRate,
    fiscalCredentials:
      credentials === undefined
        ? undefined
        : credentials === null
          ? null
          : await seal(trx, 'tenant', credentialsPlace(row.id), credentials),
    badDebtAccountId: change.badDebtAccountId,
    allowanceAccountId: change.allowanceAccountId,
  })
  await setNumbering(trx, book, change)
}

/** Accounts that a book names for what is given up and what is allowed; null leaves them to the chart. */
export const accountsOf = async (
  trx: Trx,
  bookId: string,
): Promise<Pick<Settings, 'badDebtAccountId' | 'allowanceAccountId'>> => {
  const { badDebtAccountId, allowanceAccountId } = (await findSettings(trx, bookId)) ?? usual
  return { badDebtAccountId, allowanceAccountId }
}

/** Rates of late charges of books, for lists; a book without settings charges nothing. */
export const lateChargeRates = async (
  trx: Trx,
  bookIds: readonly string[],
): Promise<ReadonlyMap<string, LateChargeRates>> => {
  const rows = await sql<LateChargeRates & { bookId: string }>(
    trx,
    `select book_id, fine_rate, monthly_interest_rate from receivable_settings where tenant_id = ? and book_id = any(?::uuid[])`,
    [contextOf(trx).tenantId, [...new Set(bookIds)]],
  )
  return new Map(rows.map(({ bookId, ...rates }) => [bookId, rates]))
}
