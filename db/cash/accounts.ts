import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import type { CashAccountKind } from '../../config/cash.ts'
import { cashAccountArchived, cashAccountChanged, cashAccountCreated } from '../../config/events/cash.ts'
import { accountFor, createAccountBeside } from '../financial/index.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, sentFields } from '../lib/events.ts'
import type { ChangedField } from '../lib/events.ts'
import { archivable } from '../lib/lifecycle.ts'
import { changeRow, fieldsOf, insertRow, readRow } from '../lib/records.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import { CashAccount } from './models.ts'
import type { AccountRecord } from './models.ts'
import { recordMovement } from './movements.ts'
import type { MatchRule } from './rules/match-rules.ts'
import { checkMatchRules } from './statements/check-rules.ts'

const moves = archivable('A cash account')
const roles: Record<CashAccountKind, string> = {
  bank: 'bank',
  acquirer: 'card_receivables',
  safe: 'safe',
  petty_cash: 'petty_cash',
  register: 'register',
}
const isAlone = (kind: CashAccountKind) => kind === 'bank' || kind === 'acquirer'

type Bank = {
  ispb?: string | null | undefined
  bankCode?: string | null | undefined
  branch?: string | null | undefined
  number?: string | null | undefined
  holderName?: string | null | undefined
  holderDocument?: string | null | undefined
}
type Register = {
  blind?: boolean | undefined
  differenceLimit?: number | undefined
  safeAccountId?: string | null | undefined
}
export type NewCashAccount = Bank &
  Register & {
    bookId?: string | undefined
    propertyId?: string | null | undefined
    kind: CashAccountKind
    code: string
    name: string
    ledgerAccountId?: string | undefined
    matchRules?: MatchRule[] | undefined
    /** The balance on a day, which the books take as its opening. */
    opening?: { amount: number; on: string } | undefined
  }

const ofBank = ['ispb', 'bankCode', 'branch', 'number', 'holderName', 'holderDocument'] as const
const ofRegister = ['blind', 'differenceLimit', 'safeAccountId'] as const

/** Refuses fields that accounts of the kind do not have. */
const checkFields = (
  kind: CashAccountKind,
  given: Bank & Register & { matchRules?: MatchRule[] | undefined },
): void => {
  const present = (field: keyof Bank | keyof Register) => given[field] !== undefined && given[field] !== null
  const errors: FieldError[] = [
    ...ofBank
      .filter((field) => kind !== 'bank' && present(field))
      .map((field) => ({ field, message: 'belongs to banks' })),
    ...ofRegister
      .filter((field) => kind !== 'register' && present(field))
      .map((field) => ({ field, message: 'belongs to registers' })),
    ...(!isAlone(kind) && (given.matchRules?.length ?? 0) > 0
      ? [{ field: 'matchRules', message: 'belong to banks and acquirers' }]
      : []),
  ]
  if (errors.length > 0) throw invalid(errors)
}

const noReference = (field: string, message: string) =>
  unprocessable('reference_not_found', 'The request names a record that does not fit', [{ field, message }])

type Place = { bookId: string; currency: string; propertyId: string | null }

/** The book of an account: the one named, the property's, or the default one. 422 `reference_not_found`. */
const placeFor = async (trx: Trx, { bookId, propertyId }: NewCashAccount): Promise<Place> => {
  const found = await sqlOne<Place>(
    trx,
    `select b.id as book_id, b.currency, p.id as property_id from book b
     left join property p on p.tenant_id = b.tenant_id and p.id = cast(:propertyId as uuid)
     where b.tenant_id = :tenantId and case when cast(:bookId as uuid) is not null then b.id = :bookId
       when p.id is not null then b.id = p.book_id else b.is_default end
       and (p.id is null or p.book_id = b.id)`,
    { tenantId: contextOf(trx).tenantId, bookId: bookId ?? null, propertyId: propertyId ?? null },
  )
  if (!found)
    throw noReference(bookId ? 'bookId' : 'propertyId', 'is no book of the tenant, or not the one of the property')
  if (propertyId && found.propertyId === null) throw noReference('propertyId', 'is no property of the tenant')
  return found
}

/** The ledger account: the one named, that of the role, or one made beside it where another bank or acquirer has that. */
const ledgerAccountFor = async (
  trx: Trx,
  bookId: string,
  given: Pick<NewCashAccount, 'kind' | 'name' | 'ledgerAccountId'>,
): Promise<string> => {
  const { tenantId } = contextOf(trx)
  if (given.ledgerAccountId !== undefined) {
    const named = await sqlOne<{ fits: boolean }>(
      trx,
      `select coalesce(postable and status = 'active' and control = 'cash', false) as fits from account where tenant_id = ? and book_id = ? and id = ?`,
      [tenantId, bookId, given.ledgerAccountId],
    )
    if (!named) throw noReference('ledgerAccountId', 'is no account of the book')
    if (!named.fits)
      throw unprocessable('ledger_account_not_cash', 'The ledger account is no account of money', [
        { field: 'ledgerAccountId', message: 'must be an active account of control cash' },
      ])
    return given.ledgerAccountId
  }
  const usual = await accountFor(trx, bookId, roles[given.kind])
  if (!isAlone(given.kind)) return usual
  // Two accounts that are made at once do not both take the usual one.
  await sqlOne(trx, `select pg_advisory_xact_lock(hashtextextended(?, 35))`, [bookId])
  const taken = await sqlOne(
    trx,
    `select 1 from cash_account where tenant_id = ? and ledger_account_id = ? and kind in ('bank', 'acquirer')`,
    [tenantId, usual],
  )
  return taken ? createAccountBeside(trx, usual, given.name) : usual
}

/** A safe of the same book; 422 `reference_not_found`. */
const checkSafe = async (trx: Trx, bookId: string, safeAccountId: string | null | undefined): Promise<void> => {
  if (!safeAccountId) return
  const safe = await sqlOne(
    trx,
    `select 1 from cash_account where tenant_id = ? and book_id = ? and id = ? and kind = 'safe' and status = 'active'`,
    [contextOf(trx).tenantId, bookId, safeAccountId],
  )
  if (!safe) throw noReference('safeAccountId', 'is no active safe of the book')
}

export const holderPlace = (rowId: string) => ({ table: 'cash_account', rowId, purpose: 'holder' })
export type Holder = { name: string | null; document: string | null }

const tell = (
  trx: Trx,
  event: typeof cashAccountCreated,
  account: Pick<AccountRecord, 'id' | 'propertyId' | 'code' | 'kind' | 'currency'>,
  version: number,
  changed: ChangedField[] = [],
) =>
  emit(trx, event, {
    propertyId: account.propertyId,
    id: account.id,
    version,
    data: { cashAccountId: account.id, code: account.code, kind: account.kind, currency: account.currency },
    changed,
  })

/**
 * Makes an account of money with its ledger account, and books what it holds. Answers its id.
 * 400 for fields of another kind; 409 `duplicate_code`; 422 `reference_not_found`, `account_not_usable`, `ledger_account_taken`, `ledger_account_not_cash`, and
 * what bookings throw.
 */
export const createCashAccount = async (trx: Trx, given: NewCashAccount): Promise<string> => {
  checkFields(given.kind, given)
  if (given.kind === 'register' && !given.propertyId)
    throw invalid([{ field: 'propertyId', message: 'is required for a register' }])
  const place = await placeFor(trx, given)
  await checkSafe(trx, place.bookId, given.safeAccountId)
  await checkMatchRules(trx, place, given.matchRules)
  const { holderName, holderDocument, opening, ledgerAccountId: _, ...fields } = given
  const id = randomUUID()
  const holder: Holder = { name: holderName ?? null, document: holderDocument ?? null }
  const account = await insertRow(trx, CashAccount, {
    ...fields,
    ...place,
    id,
    ledgerAccountId: await ledgerAccountFor(trx, place.bookId, given),
    holder: holderName || holderDocument ? await seal(trx, 'tenant', holderPlace(id), holder) : null,
  })
  await tell(trx, cashAccountCreated, account, 1)
  if (opening && opening.amount !== 0)
    await recordMovement(trx, {
      cashAccountId: id,
      amount: opening.amount,
      kind: 'opening',
      source: { type: 'cash_account', id },
      bookedOn: opening.on,
      description: 'Opening balance',
    })
  return id
}

export type CashAccountChange = Bank &
  Register & {
    code?: string | undefined
    name?: string | undefined
    ledgerAccountId?: string | undefined
    matchRules?: MatchRule[] | undefined
  }

const sealedHolder = async (trx: Trx, { id, holder }: AccountRecord, change: Bank): Promise<Buffer | null> => {
  const now = holder ? await unseal<Holder>(trx, 'tenant', holderPlace(id), holder) : { name: null, document: null }
  const next: Holder = {
    name: change.holderName === undefined ? now.name : change.holderName,
    document: change.holderDocument === undefined ? now.document : change.holderDocument,
  }
  return next.name === null && next.document === null ? null : seal(trx, 'tenant', holderPlace(id), next)
}

/** Changes names, bank data, limits or rules; `matchRules` are replaced whole. The caller holds its row. */
export const changeCashAccount = async (trx: Trx, id: string, change: CashAccountChange): Promise<void> => {
  const account = await readRow(trx, CashAccount, id)
  moves.allow('changed', account.status)
  if (fieldsOf(change).length === 0) return
  checkFields(account.kind, change)
  await checkSafe(trx, account.bookId, change.safeAccountId)
  await checkMatchRules(trx, account, change.matchRules)
  const { holderName, holderDocument, ledgerAccountId, ...fields } = change
  if (ledgerAccountId !== undefined && ledgerAccountId !== account.ledgerAccountId) {
    if (account.movementCount > 0)
      throw unprocessable('locked_field', 'The account has movements', [
        { field: 'ledgerAccountId', message: 'is fixed after the first movement' },
      ])
    await ledgerAccountFor(trx, account.bookId, { kind: account.kind, name: account.name, ledgerAccountId })
  }
  const changesHolder = holderName !== undefined || holderDocument !== undefined
  const version = await changeRow(trx, CashAccount, id, {
    ...fields,
    ledgerAccountId,
    ...(changesHolder ? { holder: await sealedHolder(trx, account, { holderName, holderDocument }) } : {}),
  })
  const { matchRules: _, ...told } = change
  await tell(
    trx,
    cashAccountChanged,
    { ...account, code: change.code ?? account.code },
    version,
    sentFields(told, account),
  )
}

/** Says in words what keeps an account from being archived; null where nothing does. */
const pendingOf = async (trx: Trx, id: string): Promise<string | null> =>
  (
    await sqlOne<{ what: string }>(
      trx,
      `select what from (
         select 'it holds ' || a.balance as what from cash_account a where a.tenant_id = :tenantId and a.id = :id and a.balance <> 0
         union all select 'a session of it is open' from cash_session s where s.tenant_id = :tenantId and s.register_id = :id and s.status <> 'closed'
         union all select 'a transfer of it is under way' from cash_transfer t where t.tenant_id = :tenantId and :id in (t.from_account_id, t.to_account_id)
           and t.status in ('pending_approval', 'approved', 'sending', 'unknown', 'in_transit')
         union all select 'a Pix charge of it is live' from pix_charge c where c.tenant_id = :tenantId and c.cash_account_id = :id and c.status in ('creating', 'active', 'cancelling')
         union all select 'its Pix connection stands' from pix_connection x where x.tenant_id = :tenantId and x.cash_account_id = :id
         union all select 'a line of its statements is open' from bank_statement_line l where l.tenant_id = :tenantId and l.cash_account_id = :id and l.status = 'unmatched'
         union all select 'a register puts its money there' from cash_account r where r.tenant_id = :tenantId and r.safe_account_id = :id and r.status = 'active') u limit 1`,
      { tenantId: contextOf(trx).tenantId, id },
    )
  )?.what ?? null

/** Retires an account that holds nothing and of which nothing is pending; 422 `account_not_empty`. The caller holds its row. */
export const archiveCashAccount = async (trx: Trx, id: string): Promise<void> => {
  const account = await readRow(trx, CashAccount, id)
  if (!moves.isDue('archived', account.status)) return
  const pending = await pendingOf(trx, id)
  if (pending !== null)
    throw unprocessable('account_not_empty', 'The account is still in use', [
      { field: 'cashAccountId', message: pending },
    ])
  const version = await changeRow(trx, CashAccount, id, { status: 'archived' })
  await tell(trx, cashAccountArchived, account, version)
}
