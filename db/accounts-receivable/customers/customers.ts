import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import {
  customerArchived,
  customerChanged,
  customerCreated,
  customerCreditHeld,
  customerRestored,
} from '../../../config/events/accounts-receivable.ts'
import type { Event } from '../../../config/events/event.ts'
import type { CustomerKind } from '../../../config/receivables.ts'
import { checkContacts, isPerson, normalDocument, searchOfParty } from '../../documents/index.ts'
import type { PartyContactsChange } from '../../documents/index.ts'
import { resolveGuest } from '../../guests/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { changeRow, insertRow } from '../../lib/records.ts'
import { Customer } from '../models.ts'
import type { CustomerRecord } from '../models.ts'
import { customerFact, lockCustomers } from '../state.ts'
import { noReach, openReach, sealReach } from './reach.ts'

export const customerMoves = archivable('A customer')

export type CustomerFields = PartyContactsChange & {
  kind: CustomerKind
  legalName: string
  tradeName?: string | undefined
  countryCode?: string | undefined
  document?: string | null | undefined
  language?: string | undefined
  invoiceEmails?: string[] | undefined
  guestId?: string | null | undefined
  termDays?: number | undefined
  billing?: 'per_stay' | 'monthly' | undefined
  billingDay?: number | undefined
  currency: string
  creditLimit?: number | null | undefined
  onHold?: boolean | undefined
  holdReason?: string | null | undefined
  withholdingTaxCodeIds?: string[] | undefined
  dunningExempt?: boolean | undefined
}

const tellCustomer = async (trx: Trx, event: Event, id: string, sent: object = {}): Promise<void> => {
  const row = await sqlOne<CustomerRecord>(trx, `select * from customer where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    id,
  ])
  if (!row) throw notFound()
  await emit(trx, event, {
    ...customerFact(row),
    changed: sentFields(Object.fromEntries(Object.keys(sent).map((field) => [field, null]))),
  })
}

/** Locks a customer, and compares the version that its reader saw. 404, 409 `version_conflict`. */
export const lockCustomer = async (trx: Trx, id: string, expected: number | null = null): Promise<CustomerRecord> => {
  const [row] = await lockCustomers(trx, [id])
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

/** Refuses tax codes that there are not: 422 `reference_not_found`; a guest beside another kind than a person: 400. */
const refuseStrangers = async (
  trx: Trx,
  { kind, guestId, withholdingTaxCodeIds = [] }: Partial<CustomerFields>,
): Promise<void> => {
  if (guestId && kind !== 'person') throw invalid([{ field: 'guestId', message: 'is for a customer of kind person' }])
  if (withholdingTaxCodeIds.length === 0) return
  const found = await sqlOne<{ codes: string[] }>(
    trx,
    `select array(select id from tax_code where tenant_id = :tenantId and kind = 'withheld_by_customers' and id = any(cast(:codes as uuid[]))) as codes`,
    { tenantId: contextOf(trx).tenantId, codes: withholdingTaxCodeIds },
  )
  const errors = withholdingTaxCodeIds.flatMap((id, index) =>
    found?.codes.includes(id)
      ? []
      : [{ field: `withholdingTaxCodeIds.${index}`, message: 'is no code of kind withheld_by_customers' }],
  )
  if (errors.length > 0) throw unprocessable('reference_not_found', 'A record does not exist', errors)
}

/** Those with one number, or one guest, take turns, so that the second is told of the first. 409 `duplicate_customer`. */
const refuseTwin = async (
  trx: Trx,
  { countryCode, document, guestId }: { countryCode: string; document: string | null; guestId: string | null },
  self: string | null,
): Promise<void> => {
  if (document === null && guestId === null) return
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('customer ' || ?, 94))`, [
    `${tenantId ?? ''} ${document === null ? (guestId ?? '') : `${countryCode} ${document}`}`,
  ])
  const twin = await sqlOne<{ id: string; byGuest: boolean }>(
    trx,
    `select id, guest_id is not distinct from cast(:guestId as uuid) and guest_id is not null as by_guest from customer
     where tenant_id = :tenantId and id is distinct from cast(:self as uuid)
       and ((country_code = :countryCode and document = cast(:document as text)) or guest_id = cast(:guestId as uuid)) limit 1`,
    { tenantId, countryCode, document, guestId, self },
  )
  if (twin)
    throw conflict('duplicate_customer', 'Another customer is the same', [
      { field: twin.byGuest ? 'guestId' : 'document', message: `is that of customer ${twin.id}` },
    ])
}

const holdOf = (
  { onHold, holdReason }: Partial<CustomerFields>,
  before: { onHold: boolean; holdReason: string | null },
) => {
  const isHeld = onHold ?? before.onHold
  const reason = isHeld ? (holdReason === undefined ? before.holdReason : holdReason) : null
  if (isHeld && !reason) throw invalid([{ field: 'holdReason', message: 'is required where a customer is on hold' }])
  return { onHold: isHeld, holdReason: reason }
}

/** A person has a CPF, or none; others of Brazil a CNPJ. 400. */
const numberOf = (kind: CustomerKind, countryCode: string, sent: string | null | undefined): string | null => {
  if (!sent) return null
  const document = normalDocument(countryCode, sent)
  if (countryCode === 'BR' && isPerson(countryCode, document) !== (kind === 'person'))
    throw invalid([{ field: 'document', message: kind === 'person' ? 'is no CPF' : 'is no CNPJ' }])
  return document
}

/** The guest that a customer is: of a merged profile its survivor. Locked before the customer. */
const guestOf = async (trx: Trx, guestId: string | null | undefined) => (guestId ? resolveGuest(trx, guestId) : guestId)

/** Adds a customer. 400 for a number with a wrong check digit; 409 `duplicate_customer`, `guest_erased`; 422 `reference_not_found`. */
export const createCustomer = async (trx: Trx, asked: CustomerFields): Promise<string> => {
  const given = { ...asked, guestId: await guestOf(trx, asked.guestId) }
  const { email, phone, address, contacts, invoiceEmails, document: sent, ...fields } = given
  checkContacts(given)
  const countryCode = given.countryCode ?? 'BR'
  const document = numberOf(given.kind, countryCode, sent)
  await refuseStrangers(trx, given)
  await refuseTwin(trx, { countryCode, document, guestId: given.guestId ?? null }, null)
  const id = randomUUID()
  await insertRow(trx, Customer, {
    ...fields,
    ...holdOf(given, { onHold: false, holdReason: null }),
    id,
    countryCode,
    document,
    search: searchOfParty({ legalName: given.legalName, tradeName: given.tradeName ?? '', document }),
    sealed: await sealReach(trx, id, noReach, { email, phone, address, contacts, invoiceEmails }),
  })
  await tellCustomer(trx, customerCreated, id)
  return id
}

/** Postings find accounts by the kind, and documents have the currency: neither changes after the first document that is no draft. */
const refuseLocked = async (trx: Trx, row: CustomerRecord, { kind, currency }: Partial<CustomerFields>) => {
  const changed = [
    ...(kind !== undefined && kind !== row.kind ? ['kind'] : []),
    ...(currency !== undefined && currency !== row.currency ? ['currency'] : []),
  ]
  if (changed.length === 0) return
  const used = await sqlOne<{ id: string }>(
    trx,
    `select id from receivable where tenant_id = ? and customer_id = ? and status <> 'draft' limit 1`,
    [contextOf(trx).tenantId, row.id],
  )
  if (used)
    throw unprocessable(
      'locked_field',
      'The customer has documents',
      changed.map((field) => ({ field, message: 'does not change after the first document' })),
    )
}

/** Changes an active customer: the fields sent. 409 `duplicate_customer`, `guest_erased`; 422 `reference_not_found`, `locked_field`. */
export const changeCustomer = async (
  trx: Trx,
  id: string,
  asked: Partial<CustomerFields>,
  expected: number | null,
): Promise<void> => {
  const named = await guestOf(trx, asked.guestId)
  const change = named === undefined ? asked : { ...asked, guestId: named }
  const row = await lockCustomer(trx, id, expected)
  customerMoves.allow('changed', row.status)
  if (Object.keys(change).length === 0) return
  const { email, phone, address, contacts, invoiceEmails, document: sent, ...fields } = change
  checkContacts(change)
  await refuseLocked(trx, row, change)
  const kind = change.kind ?? row.kind
  const guestId = change.guestId === undefined ? row.guestId : change.guestId
  await refuseStrangers(trx, { ...change, kind, guestId })
  const countryCode = change.countryCode ?? row.countryCode
  const document = numberOf(kind, countryCode, sent === undefined ? row.document : sent)
  if (document !== row.document || countryCode !== row.countryCode || guestId !== row.guestId)
    await refuseTwin(trx, { countryCode, document, guestId }, row.id)
  const hold = holdOf(change, row)
  await changeRow(trx, Customer, row.id, {
    ...fields,
    ...hold,
    document,
    search: searchOfParty({
      legalName: change.legalName ?? row.legalName,
      tradeName: change.tradeName ?? row.tradeName,
      document,
    }),
    sealed: await sealReach(trx, row.id, await openReach(trx, row), {
      email,
      phone,
      address,
      contacts,
      invoiceEmails,
    }),
  })
  await tellCustomer(trx, customerChanged, row.id, change)
  if (hold.onHold && !row.onHold) await tellCustomer(trx, customerCreditHeld, row.id)
}

/** Retires a customer that owes nothing and has no money here: 422 `customer_not_empty`. */
export const archiveCustomer = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const row = await lockCustomer(trx, id, expected)
  if (!customerMoves.isDue('archived', row.status)) return
  const open = await sqlOne<{ drafts: number; available: number }>(
    trx,
    `select (select count(*) from receivable where tenant_id = :tenantId and customer_id = :id and status = 'draft') as drafts,
       (select coalesce(sum(available), 0)::bigint from receipt where tenant_id = :tenantId and customer_id = :id and status = 'recorded' and available > 0) as available`,
    { tenantId: contextOf(trx).tenantId, id },
  )
  const errors = Object.entries({ exposure: row.exposure, ...open }).flatMap(([field, value]) =>
    value > 0 ? [{ field, message: `is ${value}` }] : [],
  )
  if (errors.length > 0) throw unprocessable('customer_not_empty', 'The customer has open business', errors)
  await changeRow(trx, Customer, id, { status: 'archived' })
  await tellCustomer(trx, customerArchived, id)
}

/** Brings an archived customer back. */
export const restoreCustomer = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const row = await lockCustomer(trx, id, expected)
  if (!customerMoves.isDue('restored', row.status)) return
  await changeRow(trx, Customer, id, { status: 'active' })
  await tellCustomer(trx, customerRestored, id)
}
