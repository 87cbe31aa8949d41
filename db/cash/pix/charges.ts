import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { pixChargeActivated } from '../../../config/events/pix.ts'
import type { PixChargeKind } from '../../../config/pix.ts'
import { addDays, todayIn } from '../../../config/time.ts'
import { createPixChargeJob } from '../../../jobs/cash.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, nativeError, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { findRow, insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import { namedAccount } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import { PixCharge, PixKey } from '../models.ts'
import type { ChargeRecord } from '../models.ts'
import { brCodeOf } from '../../../config/br-code.ts'
import { gateOfPix, readyConnection } from './connection.ts'
import { pixModules } from './targets.ts'
import type { PixTargetRef } from './targets.ts'

export type Payer = { name: string; document: string }
export type PixDiscount = { until: string; amount: number }
export type NewCharge = {
  kind: PixChargeKind
  cashAccountId: string
  pixKeyId?: string | undefined
  /** Minor units; left out of a static charge, the payer types it. */
  amount?: number | undefined
  targetType?: PixTargetRef['targetType'] | undefined
  targetId?: string | undefined
  installmentId?: string | undefined
  payer?: Payer | undefined
  dueOn?: string | undefined
  daysAfterDue?: number | undefined
  fineRate?: number | undefined
  monthlyInterestRate?: number | undefined
  discounts?: PixDiscount[] | undefined
  /** Instant at which an immediate charge ends; in an hour unless said. */
  expiresAt?: string | undefined
  text?: string | undefined
}

export const chargePayer = (rowId: string) => ({ table: 'pix_charge', rowId, purpose: 'payer' })

/** Says what has become of a charge. */
export const tellCharge = (trx: Trx, event: typeof pixChargeActivated, charge: ChargeRecord) =>
  emit(trx, event, {
    propertyId: charge.propertyId,
    id: charge.id,
    version: charge.version,
    data: {
      pixChargeId: charge.id,
      txid: charge.txid,
      amount: charge.amount,
      currency: charge.currency,
      targetType: charge.targetType,
      targetId: charge.targetId,
      installmentId: charge.installmentId,
    },
  })

const ofDueDate = ['dueOn', 'daysAfterDue', 'fineRate', 'monthlyInterestRate', 'discounts'] as const

const discountErrors = ({ discounts = [], dueOn = '', amount = 0 }: NewCharge): FieldError[] =>
  discounts.flatMap((one, index) => {
    const before = discounts[index - 1]
    const field = `discounts.${index}`
    return [
      ...(one.until > dueOn ? [{ field: `${field}.until`, message: 'must not be after dueOn' }] : []),
      ...(one.amount >= amount ? [{ field: `${field}.amount`, message: 'must be less than the amount' }] : []),
      ...(before && (one.until <= before.until || one.amount >= before.amount)
        ? [{ field, message: 'comes later than the one before, and is less' }]
        : []),
    ]
  })

const checkShape = (given: NewCharge): void => {
  const { kind } = given
  const errors: FieldError[] = [
    ...(kind === 'due_date'
      ? discountErrors(given)
      : ofDueDate
          .filter((field) => given[field] !== undefined)
          .map((field) => ({ field, message: 'belongs to due_date' }))),
    ...(kind === 'due_date' && given.dueOn === undefined ? [{ field: 'dueOn', message: 'is required' }] : []),
    ...(kind === 'due_date' && given.payer === undefined ? [{ field: 'payer', message: 'is required' }] : []),
    ...(kind !== 'immediate' && given.expiresAt !== undefined
      ? [{ field: 'expiresAt', message: 'belongs to immediate' }]
      : []),
    ...(kind !== 'static' && given.amount === undefined ? [{ field: 'amount', message: 'is required' }] : []),
    ...((given.targetType === undefined) === (given.targetId === undefined)
      ? []
      : [{ field: 'targetId', message: 'stands with targetType, or not at all' }]),
    ...(given.installmentId !== undefined && given.targetType !== 'receivable'
      ? [{ field: 'installmentId', message: 'belongs to a receivable' }]
      : []),
  ]
  if (errors.length > 0) throw invalid(errors)
}

/** The end of a charge: an immediate one ends at its own instant, one by a date at the end of the last day on which it is taken. */
const endOf = (given: NewCharge, { timeZone }: AccountFacts): { expiresAt: Date | null; endsAt: Date | null } => {
  const now = Date.now()
  if (given.kind === 'immediate') {
    const expiresAt = given.expiresAt === undefined ? new Date(now + 3_600_000) : new Date(given.expiresAt)
    if (expiresAt.getTime() < now + 5 * 60_000 - 5_000 || expiresAt.getTime() > now + 30 * 86_400_000)
      throw invalid([{ field: 'expiresAt', message: 'must lie between 5 minutes and 30 days ahead' }])
    return { expiresAt, endsAt: expiresAt }
  }
  if (given.kind === 'static') return { expiresAt: null, endsAt: null }
  const today = todayIn(timeZone)
  const dueOn = given.dueOn ?? today
  if (dueOn < today || dueOn > addDays(today, 366))
    throw unprocessable('date_out_of_range', 'A charge is due within a year', [
      { field: 'dueOn', message: `must lie between ${today} and ${addDays(today, 366)}` },
    ])
  // The day ends somewhere on earth a day later than anywhere else: the bank says what is too late.
  return {
    expiresAt: null,
    endsAt: new Date(Date.parse(`${addDays(dueOn, (given.daysAfterDue ?? 30) + 1)}T12:00:00Z`)),
  }
}

const keyOf = async (trx: Trx, { cashAccountId, pixKeyId }: NewCharge) => {
  const key =
    pixKeyId === undefined
      ? await sqlOne<{ id: string; value: string }>(
          trx,
          `select id, value from pix_key where tenant_id = ? and cash_account_id = ? order by created_at, id limit 1 for share`,
          [contextOf(trx).tenantId, cashAccountId],
        )
      : await findRow(trx, PixKey, { id: pixKeyId, cashAccountId }, ['id', 'value'])
  if (key) return key
  if (pixKeyId === undefined)
    throw unprocessable('pix_not_ready', 'The account has no Pix key', [
      { field: 'cashAccountId', message: 'has no Pix key' },
    ])
  throw unprocessable('reference_not_found', 'There is no such key of the account', [
    { field: 'pixKeyId', message: 'is no key of the account' },
  ])
}

/** The payee as the payer reads it: the property, else the book, and its town. */
const merchantOf = async (trx: Trx, { id }: AccountFacts, propertyId: string | null) =>
  (await sqlOne<{ name: string; city: string }>(
    trx,
    `select coalesce(p.name, b.name) as name, coalesce(nullif(p.address ->> 'city', ''), 'BRASIL') as city from cash_account a
     join book b on b.tenant_id = a.tenant_id and b.id = a.book_id
     left join property p on p.tenant_id = a.tenant_id and p.id = coalesce(cast(? as uuid), a.property_id)
     where a.tenant_id = ? and a.id = ?`,
    [propertyId, contextOf(trx).tenantId, id],
  )) ?? { name: 'NAO INFORMADO', city: 'BRASIL' }

/** Locks the target of a charge. 422 `reference_not_found`, `target_closed`. */
const targetFor = async (trx: Trx, account: AccountFacts, target: PixTargetRef | null) => {
  if (!target) return null
  const found = await pixModules().targetOf(trx, target)
  if (found?.bookId !== account.bookId || found.currency !== account.currency)
    throw unprocessable('reference_not_found', 'There is no such target of the book', [
      { field: 'targetId', message: 'is no target of the book of the account' },
    ])
  if (!found.isOpen) throw unprocessable('target_closed', 'Nothing more can be paid for this')
  return found
}

const liveOf = (trx: Trx, { targetType, targetId, installmentId }: PixTargetRef): Promise<ChargeRecord | null> =>
  sqlOne<ChargeRecord>(
    trx,
    `select * from pix_charge where tenant_id = :tenantId and target_type = :targetType and target_id = :targetId
       and installment_id is not distinct from cast(:installmentId as uuid) and status in ('creating', 'active')`,
    { tenantId: contextOf(trx).tenantId, targetType, targetId, installmentId },
  )

const standing = (live: ChargeRecord, given: NewCharge): { id: string; isNew: false } => {
  if (live.kind === given.kind && live.amount === (given.amount ?? null) && live.dueOn === (given.dueOn ?? null))
    return { id: live.id, isNew: false }
  throw conflict('charge_exists', 'The target has another live charge; cancel that first', [
    { field: 'pixChargeId', message: live.id },
  ])
}

/**
 * Asks to be paid by Pix (R22 to R24). A static charge has its BR Code at once; any other is made at the bank by a worker. The same again for a target answers the
 * charge that stands. 400; 409 `charge_exists`; 422 `reference_not_found`, `account_archived`, `currency_mismatch`, `pix_not_ready`, `target_closed`,
 * `date_out_of_range`.
 */
export const createCharge = async (
  trx: Trx,
  given: NewCharge,
  judge: (record: { propertyId: string | null }) => void = () => {},
): Promise<{ id: string; isNew: boolean }> => {
  checkShape(given)
  const account = await namedAccount(trx, given.cashAccountId, 'cashAccountId')
  if (account.kind !== 'bank')
    throw unprocessable('reference_not_found', 'A charge is paid to a bank', [
      { field: 'cashAccountId', message: 'is no bank' },
    ])
  if (account.currency !== 'BRL') throw unprocessable('currency_mismatch', 'A Pix is in BRL')
  const target: PixTargetRef | null =
    given.targetType !== undefined && given.targetId !== undefined
      ? { targetType: given.targetType, targetId: given.targetId, installmentId: given.installmentId ?? null }
      : null
  const found = await targetFor(trx, account, target)
  const propertyId = found?.propertyId ?? account.propertyId
  judge({ propertyId })
  const live = target ? await liveOf(trx, target) : null
  if (live) return standing(live, given)
  const isStatic = given.kind === 'static'
  const connection = isStatic ? null : await readyConnection(trx, account.id)
  const [key, merchant] = [await keyOf(trx, given), await merchantOf(trx, account, propertyId)]
  const { expiresAt, endsAt } = endOf(given, account)
  const id = randomUUID()
  const plain = id.replaceAll('-', '')
  const txid = isStatic ? plain.slice(0, 25) : plain
  const text = given.text ?? ''
  const charge = await insertCharge(trx, {
    id,
    cashAccountId: account.id,
    bookId: account.bookId,
    propertyId,
    pixKeyId: key.id,
    kind: given.kind,
    amount: given.amount ?? null,
    currency: account.currency,
    txid,
    targetType: target?.targetType ?? null,
    targetId: target?.targetId ?? null,
    installmentId: target?.installmentId ?? null,
    payer: given.payer ? await seal(trx, 'tenant', chargePayer(id), given.payer) : null,
    dueOn: given.dueOn ?? null,
    graceDays: given.kind === 'due_date' ? (given.daysAfterDue ?? 30) : null,
    fineRate: given.fineRate ?? 0,
    monthlyInterestRate: given.monthlyInterestRate ?? 0,
    discounts: given.discounts ?? [],
    expiresAt,
    endsAt,
    text,
    merchantName: merchant.name.slice(0, 200),
    merchantCity: merchant.city.slice(0, 120),
    brCode: isStatic
      ? brCodeOf({ pix: { key: key.value, text }, amount: given.amount ?? null, ...merchant, txid })
      : null,
    status: isStatic ? 'active' : 'creating',
    createdBy: await authorOf(trx),
  })
  if (isStatic) await tellCharge(trx, pixChargeActivated, charge)
  else if (connection)
    await enqueue(
      trx,
      createPixChargeJob,
      { tenantId: contextOf(trx).tenantId ?? '', pixChargeId: id },
      { uniqueKey: id, class: 'urgent', gate: gateOfPix(connection) },
    )
  return { id, isNew: true }
}

/** Two that ask for one target at once: the second is told of the first. */
const insertCharge = async (trx: Trx, row: Parameters<typeof insertRow<'pix_charge', ChargeRecord>>[2]) => {
  try {
    return await insertRow(trx, PixCharge, row)
  } catch (error) {
    const { constraint } = nativeError(error) as { constraint?: string }
    throw constraint === 'pix_charge_one_live'
      ? conflict('charge_exists', 'The target has a live charge; cancel that first')
      : error
  }
}
