import { guestAccessCode, satisfactionToken } from '../../config/derived-secrets.ts'
import { settings } from '../../config/env.ts'
import { textIn } from '../../config/local-text.ts'
import type { LocalText } from '../../config/local-text.ts'
import { signToken } from '../../config/tokens.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import type { MessageRow, PropertyRow } from '../rows.ts'
import type { ChannelKind } from './rules/contents.ts'
import { unsubscribeUrl } from './unsubscribe-token.ts'
import { ownerOf } from './owners.ts'
import { bookingOf } from './reader.ts'
import type { Reader } from './reader.ts'
import { bookingMoney } from './stay.ts'
import type { BookingMoney } from './stay.ts'
import type { Value, Values } from './rules/template.ts'

export type MessageProperty = Pick<
  PropertyRow,
  'id' | 'name' | 'timezone' | 'currency' | 'locales' | 'phone' | 'email' | 'website' | 'checkInFrom' | 'checkOutUntil'
> & {
  address: Partial<Record<'line1' | 'line2' | 'district' | 'city' | 'region' | 'postalCode', string>>
}

type ReservationFacts = {
  number: string
  arrival: string
  departure: string
  nights: number
  adults: number
  childrenAges: number[]
  unitType: LocalText
  ratePlan: LocalText
  total: number
  feeAmount: number | null
  policies: { cancellation?: { text?: string } }
}
type BookingFacts = BookingMoney & { number: string; currency: string }
type PaymentFacts = {
  amount: number
  capturedAmount: number
  refundReserved: number
  currency: string
  method: string
  capturedAt: Date | null
}

const methods: Record<string, Record<string, string>> = {
  en: {
    card: 'card',
    pix: 'Pix',
    boleto: 'boleto',
    cash: 'cash',
    bank_transfer: 'bank transfer',
    terminal: 'card at the desk',
    cheque: 'cheque',
    other: 'other',
  },
  pt: {
    card: 'cartão',
    pix: 'Pix',
    boleto: 'boleto',
    cash: 'dinheiro',
    bank_transfer: 'transferência',
    terminal: 'cartão na recepção',
    cheque: 'cheque',
    other: 'outro',
  },
  es: {
    card: 'tarjeta',
    pix: 'Pix',
    boleto: 'boleto',
    cash: 'efectivo',
    bank_transfer: 'transferencia',
    terminal: 'tarjeta en recepción',
    cheque: 'cheque',
    other: 'otro',
  },
}
const methodIn = (method: string, locale: string) =>
  (methods[locale.split('-')[0] ?? ''] ?? methods.en)?.[method] ?? method

const clock = (time: string | null): Value => (time === null ? null : { type: 'clock', time })

const addressLine = ({ line1, line2, district, city, region, postalCode }: MessageProperty['address']) =>
  [line1, line2, district, city, region, postalCode].filter(Boolean).join(', ')

const readReservation = (trx: Trx, id: string) =>
  sqlOne<ReservationFacts>(
    trx,
    `select b.number || '-' || r.position as number, r.arrival, r.departure, r.departure - r.arrival as nights, r.adults, r.children_ages,
       u.name as unit_type, p.name as rate_plan, r.total, r.fee_amount, r.policies
     from reservation r
     join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     join unit_type u on u.tenant_id = r.tenant_id and u.id = r.unit_type_id
     join rate_plan p on p.tenant_id = r.tenant_id and p.id = r.rate_plan_id
     where r.id = ?`,
    [id],
  )

const readBooking = (trx: Trx, id: string) =>
  sqlOne<BookingFacts>(trx, `select b.number, b.currency, ${bookingMoney} from booking b where b.id = ?`, [id])

const readPayment = (trx: Trx, id: string) =>
  sqlOne<PaymentFacts>(
    trx,
    `select amount, captured_amount, refund_reserved, currency, method, captured_at from payment where id = ?`,
    [id],
  )

type GroupFacts = { code: string; name: string; arrival: string; departure: string }

/** The group that the event of a message happened to; null for events of others. */
const readGroup = (trx: Trx, eventId: string): Promise<GroupFacts | null> =>
  sqlOne<GroupFacts>(
    trx,
    `select g.code, g.name, g.arrival, g.departure from event e join booking_group g on g.tenant_id = e.tenant_id and g.id = (e.entity->>'id')::uuid
     where e.id = ? and e.entity->>'type' = 'booking_group'`,
    [eventId],
  )

type About = Pick<MessageRow, 'id' | 'reservationId' | 'paymentId' | 'issueId'> & {
  data: unknown
  eventId?: string | null
}

/** The page of the gateway on which a payment can be made; null once it cannot. */
const pageOfPayment = async (trx: Trx, id: string): Promise<string | null> => {
  const row = await sqlOne<{ action: Buffer | null }>(
    trx,
    `select action from payment where id = ? and status = 'requires_action'`,
    [id],
  )
  if (!row?.action) return null
  const action = await unseal<{ type: string; url?: string }>(
    trx,
    'tenant',
    { table: 'payment', rowId: id, purpose: 'action' },
    row.action,
  )
  return action.type === 'redirect' ? (action.url ?? null) : null
}

/** The page on which a guest fills in a form; the token stands after the `#`, so no server along the way sees it. */
const registrationLink = async (trx: Trx, { guestRegistrationId, linkFrom = '', linkUntil = '' }: Ids) => {
  const from = new Date(linkFrom)
  const seconds = Math.ceil((Date.parse(linkUntil) - from.getTime()) / 1000)
  const token = await signToken(
    'registration',
    { tenant: contextOf(trx).tenantId, registration: guestRegistrationId },
    seconds,
    from,
  )
  return guestPage(`guest-registrations/${guestRegistrationId}`, token)
}

/** Derives codes and links from ids in `data`; `masked` blots them out for everything that is stored. */
const secrets = async (trx: Trx, data: unknown, masked: boolean): Promise<Record<string, Value>> => {
  const ids = idsIn(data)
  const { guestAccessCodeId, linkOfPaymentId, satisfactionIssueId, guestRegistrationId } = ids
  const { tenantId } = contextOf(trx)
  const linkOf = async (): Promise<Value> => {
    if (satisfactionIssueId !== undefined && tenantId !== null)
      return guestPage('satisfaction', satisfactionToken(tenantId, satisfactionIssueId))
    if (guestRegistrationId !== undefined) return registrationLink(trx, ids)
    return linkOfPaymentId === undefined ? null : pageOfPayment(trx, linkOfPaymentId)
  }
  const hasLink =
    linkOfPaymentId !== undefined || satisfactionIssueId !== undefined || guestRegistrationId !== undefined
  return {
    code: guestAccessCodeId === undefined ? null : masked ? '•••' : guestAccessCode(guestAccessCodeId),
    ...(hasLink ? { link: masked ? '•••' : await linkOf() } : {}),
  }
}

type Ids = {
  guestAccessCodeId?: string
  linkOfPaymentId?: string
  satisfactionIssueId?: string
  issueCommentId?: string
  guestRegistrationId?: string
  linkFrom?: string
  linkUntil?: string
  purchaseOrderId?: string
}
const idsIn = (data: unknown): Ids => (typeof data === 'object' && data !== null ? data : {})

/** A page of the application for guests, with a token that no server's log sees. */
const guestPage = (name: string, token: string) =>
  `${settings.appBaseUrl ?? settings.publicBaseUrl}/${name}#token=${token}`

const readIssueValues = async (trx: Trx, issueId: string, commentId: string | undefined) => {
  const issue = await sqlOne<{ number: number; sealed: Buffer | null; comment: Buffer | null }>(
    trx,
    `select i.number, i.sealed, c.sealed as comment from issue i
     left join issue_comment c on c.tenant_id = i.tenant_id and c.issue_id = i.id and c.id = ? where i.id = ?`,
    [commentId ?? null, issueId],
  )
  if (!issue) return {}
  const open = async (table: string, rowId: string, purpose: string, sealed: Buffer | null) =>
    sealed === null ? null : unseal<{ title?: string; text?: string }>(trx, 'tenant', { table, rowId, purpose }, sealed)
  const texts = await open('issue', issueId, 'issue', issue.sealed)
  const comment = commentId === undefined ? null : await open('issue_comment', commentId, 'comment', issue.comment)
  return { number: issue.number, title: texts?.title ?? null, comment: comment?.text ?? null }
}

const readOrderValues = async (trx: Trx, orderId: string): Promise<Record<string, Value>> => {
  const order = await sqlOne<{
    number: number
    supplier: string
    lines: string
    total: number
    currency: string
    expectedOn: string | null
    notes: string
  }>(
    trx,
    `select o.number, s.legal_name as supplier, o.total, o.currency, o.expected_on, o.notes,
       (select string_agg(trim_scale(l.entered) || coalesce(' ' || l.measure, '') || ' x ' || l.description, e'\\n' order by l.line_no)
        from purchase_order_line l where l.tenant_id = o.tenant_id and l.purchase_order_id = o.id) as lines
     from purchase_order o join supplier s on s.tenant_id = o.tenant_id and s.id = o.supplier_id where o.id = ?`,
    [orderId],
  )
  if (!order) return {}
  const { number, supplier, lines, total, currency, expectedOn, notes } = order
  return {
    number,
    supplier,
    lines,
    total: { type: 'money', amount: total, currency },
    expectedOn: expectedOn === null ? null : { type: 'day', day: expectedOn },
    notes: notes || null,
  }
}

/** Every value that the templates of a message may name, as the records stand at this moment. */
export const readValues = async (
  trx: Trx,
  {
    message,
    property,
    reader,
    locale,
    kind,
    masked,
  }: {
    message: About
    property: MessageProperty
    reader: Reader
    locale: string
    kind: ChannelKind
    masked: boolean
  },
): Promise<Values> => {
  const values = new Map<string, Value>()
  const set = (prefix: string, entries: Record<string, Value>) => {
    for (const [name, value] of Object.entries(entries)) values.set(prefix === '' ? name : `${prefix}.${name}`, value)
  }
  set('property', {
    name: property.name,
    phone: property.phone,
    email: property.email,
    website: property.website,
    address: addressLine(property.address) || null,
    checkInFrom: clock(property.checkInFrom),
    checkOutUntil: clock(property.checkOutUntil),
  })
  set('guest', {
    firstName: reader.firstName,
    lastName: reader.lastName,
    name: `${reader.firstName} ${reader.lastName}`.trim(),
  })
  set('', await secrets(trx, message.data, masked))
  if (message.issueId) set('issue', await readIssueValues(trx, message.issueId, idsIn(message.data).issueCommentId))
  const isOfRecord = message.reservationId ?? message.paymentId ?? message.issueId
  const group = message.eventId && !isOfRecord ? await readGroup(trx, message.eventId) : null
  if (group)
    set('group', {
      code: group.code,
      name: group.name,
      arrival: { type: 'day', day: group.arrival },
      departure: { type: 'day', day: group.departure },
    })
  const { purchaseOrderId } = idsIn(message.data)
  if (purchaseOrderId) set('order', await readOrderValues(trx, purchaseOrderId))
  const mine = ownerOf(message)
  if (mine) set('', await mine.owner.values(trx, mine.owned, locale))
  set('unsubscribe', { link: masked ? '•••' : unsubscribeUrl(trx, message.id, kind) })

  const booking = await bookingOf(trx, message)
  const facts = booking && (await readBooking(trx, booking.bookingId))
  const currency = facts?.currency ?? property.currency
  const money = (amount: number): Value => ({ type: 'money', amount, currency })
  if (facts)
    set('booking', {
      number: facts.number,
      total: money(facts.bookingTotal),
      paid: money(facts.money.paid),
      balance: money(Math.max(0, facts.bookingTotal - facts.money.paid)),
      returned: money(facts.money.returned),
    })
  const stay = message.reservationId ? await readReservation(trx, message.reservationId) : null
  if (stay)
    set('reservation', {
      number: stay.number,
      arrival: { type: 'day', day: stay.arrival },
      departure: { type: 'day', day: stay.departure },
      nights: stay.nights,
      adults: stay.adults,
      children: stay.childrenAges.length,
      unitType: textIn(stay.unitType, locale, ...property.locales),
      ratePlan: textIn(stay.ratePlan, locale, ...property.locales),
      total: money(stay.total),
      fee: money(stay.feeAmount ?? 0),
      cancellation: stay.policies.cancellation?.text ?? null,
    })
  const payment = message.paymentId ? await readPayment(trx, message.paymentId) : null
  if (payment) {
    const paid = (amount: number): Value => ({ type: 'money', amount, currency: payment.currency })
    set('payment', {
      amount: paid(payment.capturedAmount || payment.amount),
      method: methodIn(payment.method, locale),
      capturedAt: payment.capturedAt && { type: 'instant', at: payment.capturedAt },
      refunded: paid(payment.refundReserved),
    })
  }
  return values
}
