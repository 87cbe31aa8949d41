import { textIn } from '../../config/local-text.ts'
import type { LocalText } from '../../config/local-text.ts'
import { preparedOne, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import type { MessageRow, PropertyRow } from '../rows.ts'
import { blot } from './rules/blotted.ts'
import type { ChannelKind } from './rules/contents.ts'
import { unsubscribeUrl } from './unsubscribe-token.ts'
import { idsIn, registrationLink, secretsOf } from './links.ts'
import { ownerOf } from './owners.ts'
import { paymentValues } from './payment-values.ts'
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
const clock = (time: string | null): Value => (time === null ? null : { type: 'clock', time })

const addressLine = ({ line1, line2, district, city, region, postalCode }: MessageProperty['address']) =>
  [line1, line2, district, city, region, postalCode].filter(Boolean).join(', ')

const readReservation = (trx: Trx, id: string) =>
  preparedOne<ReservationFacts>(
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

const bookingFacts = `select b.number, b.currency, ${bookingMoney} from booking b`

/** The booking of a message: of its stay, or of its payment's. */
const readBooking = async (trx: Trx, message: About): Promise<BookingFacts | null> => {
  if (message.reservationId)
    return preparedOne<BookingFacts>(
      trx,
      `${bookingFacts} where b.id = (select r.booking_id from reservation r where r.id = ?)`,
      [message.reservationId],
    )
  const booking = await bookingOf(trx, message)
  return booking && preparedOne<BookingFacts>(trx, `${bookingFacts} where b.id = ?`, [booking.bookingId])
}

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
  /** Given where the message goes to an address of its own, and not to that of a guest's profile. */
  recipient?: Buffer | null
}

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

/** The booking and the stay of a message; null where it is of none. */
export type Records = { booking: BookingFacts | null; stay: ReservationFacts | null }

/** Reads what a message says of its booking and stay, in whatever language it is written. */
export const readRecords = async (trx: Trx, message: About): Promise<Records> => {
  const [booking, stay] = await Promise.all([
    readBooking(trx, message),
    message.reservationId ? readReservation(trx, message.reservationId) : null,
  ])
  return { booking, stay }
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
    named,
    masked,
    records,
  }: {
    message: About
    property: MessageProperty
    reader: Reader
    locale: string
    kind: ChannelKind
    /** The paths that the content names: what makes a link as it is read is read for those that do. */
    named: ReadonlySet<string>
    masked: boolean
    /** Booking and stay, where the caller has read them. */
    records?: Records | undefined
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
  set('', await secretsOf(trx, message.data, masked))
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
  if (named.has('registration.link')) {
    // An address given by hand may be that of another person than the guest of the form.
    const guestId = message.recipient ? null : reader.guestId
    set('registration', {
      link: await registrationLink(trx, { reservationId: message.reservationId, guestId }, masked),
    })
  }
  set('unsubscribe', { link: masked ? blot : unsubscribeUrl(trx, message.id, kind) })

  const [{ booking: facts, stay }, payment] = await Promise.all([
    records ?? readRecords(trx, message),
    message.paymentId ? paymentValues(trx, message.paymentId, locale) : null,
  ])
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
  if (payment) set('payment', payment)
  return values
}
