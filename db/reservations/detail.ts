import { notFound } from '../../config/errors.ts'
import { textIn } from '../../config/local-text.ts'
import type { LocalText } from '../../config/local-text.ts'
import type { QuotedTax } from '../../config/quote.ts'
import { sum } from '../lib/amounts.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import { onTop, readProperty } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type {
  BookingRow,
  DepositRow,
  ExtraRow,
  FolioRouteRow,
  FolioRow,
  ReservationExtraRow,
  ReservationGuestRow,
  ReservationNightRow,
  ReservationNoteRow,
  ReservationRow,
  UnitAssignmentRow,
} from '../rows.ts'
import { guestName, presentDay, presentDayOf } from '../units/index.ts'
import { extraCharges } from './charge-extras.ts'
import { flagsColumn } from './flags.ts'
import type { Flag } from './flags.ts'
import { requestsPlace } from './hold-rows.ts'
import { openNote } from './notes.ts'
import { feesOf } from './rules/cancellation-fee.ts'
import { installmentsOf, uncovered } from './rules/deposits.ts'
import { policiesOf } from './rules/policies.ts'
import { isLive } from './rules/states.ts'

type Head = ReservationRow & {
  now: Date
  today: string
  bookingNumber: string
  unitTypeName: LocalText
  ratePlanName: LocalText
  guestName: string | null
  flags: Flag[]
  routing: Pick<FolioRouteRow, 'folioId' | 'categories' | 'from' | 'until'>[]
}

const head = `
  select r.*, now() as now, ${presentDay('y')} as today, b.number as booking_number, t.name as unit_type_name, p.name as rate_plan_name,
    ${guestName} as guest_name, ${flagsColumn},
    (select coalesce(jsonb_agg(jsonb_build_object('folioId', f.folio_id, 'categories', f.categories, 'from', f."from", 'until', f."until") order by f.position), '[]')
     from folio_route f where f.tenant_id = r.tenant_id and f.reservation_id = r.id) as routing
  from reservation r
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
  join unit_type t on t.tenant_id = r.tenant_id and t.id = r.unit_type_id
  join rate_plan p on p.tenant_id = r.tenant_id and p.id = r.rate_plan_id
  left join guest g on g.tenant_id = r.tenant_id and g.id = r.primary_guest_id
  where r.id = ?`

type Person = Pick<
  ReservationGuestRow,
  'id' | 'guestId' | 'role' | 'age' | 'responsibleId' | 'kinship' | 'authorisationDocumentId' | 'version'
> & { name: string | null }
type Extra = ReservationExtraRow & Pick<ExtraRow, 'revenueGroup'> & { taxes: QuotedTax[] }
type Night = ReservationNightRow & { taxes: QuotedTax[]; components: { extraId: string; amount: number }[] }
type Assignment = Pick<UnitAssignmentRow, 'id' | 'unitId'> & {
  unitName: string
  from: string
  to: string
  status: Exclude<UnitAssignmentRow['status'], 'blocked' | 'released'>
}

/** All that is shown of one stay, in one round trip after the first. */
const read = async (trx: Trx, id: string) => {
  const ofStay = (text: string) => prepared<never>(trx, text, [id])
  const [heads, bookings, nights, guests, extras, notes, assignments, deposits, folios] = await Promise.all([
    prepared<Head>(trx, head, [id]),
    prepared<BookingRow>(
      trx,
      `select b.* from booking b where b.id = (select booking_id from reservation where id = ?)`,
      [id],
    ),
    ofStay(`select * from reservation_night where reservation_id = ? order by date`) as Promise<Night[]>,
    ofStay(
      `select n.id, n.guest_id, n.role, n.age, n.responsible_id, n.kinship, n.authorisation_document_id, n.version, ${guestName} as name
       from reservation_guest n join guest g on g.tenant_id = n.tenant_id and g.id = n.guest_id
       where n.reservation_id = ? order by n.role desc, n.created_at, n.id`,
    ) as Promise<Person[]>,
    ofStay(
      `select e.*, x.revenue_group from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id
       where e.reservation_id = ? order by e.name, e.id`,
    ) as Promise<Extra[]>,
    ofStay(`select * from reservation_note where reservation_id = ? order by created_at, id`) as Promise<
      ReservationNoteRow[]
    >,
    ofStay(
      `select a.id, a.unit_id, u.name as unit_name, a.starts_on as "from", a.ends_on as "to", a.status
       from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
       where a.reservation_id = ? and a.status <> 'released' order by a.starts_on, u.name, a.id`,
    ) as Promise<Assignment[]>,
    ofStay(`select * from deposit where reservation_id = ? order by due_at, position`) as Promise<DepositRow[]>,
    ofStay(`select * from folio where reservation_id = ? order by number`) as Promise<FolioRow[]>,
  ])
  const [stay] = heads
  const [booking] = bookings
  if (!stay || !booking) throw notFound()
  return { stay, booking, nights, guests, extras, notes, assignments, deposits, folios }
}

type Parts = Awaited<ReturnType<typeof read>>

/** Prices of nights and days of service through a day that stand on no folio yet: what the night audit of that day would charge. */
const unpostedThrough = ({ stay, nights, extras }: Pick<Parts, 'stay' | 'nights' | 'extras'>, through: string) => {
  if (stay.status !== 'confirmed' && stay.status !== 'checked_in') return 0
  const open = nights.filter((night) => night.status === 'open' && night.date <= through)
  const charges = extras
    .filter((extra) => extra.status === 'active')
    .flatMap((extra) => extraCharges(stay, extra, through))
  return (
    sum(open.map((night) => night.amount + onTop(night.taxes))) +
    sum(charges.map((charge) => charge.amount + onTop(charge.taxes)))
  )
}

const folioSummaryOf = (parts: Parts, property: SaleProperty) => {
  const { stay, folios, deposits } = parts
  const balance = sum(folios.map((one) => one.balance))
  const credits = sum(folios.map((one) => one.credits))
  return {
    folios: folios.map(
      ({ id, number, kind, label, status, stage, isPrimary, charges, credits: paid, balance: owed }) => ({
        id,
        number,
        kind,
        label,
        status,
        stage,
        isPrimary,
        charges,
        credits: paid,
        balance: owed,
      }),
    ),
    charges: sum(folios.map((one) => one.charges)),
    credits,
    balance,
    unposted: unpostedThrough(parts, presentDayOf(property)),
    projected: isLive(stay.status) ? balance + stay.total - stay.postedTotal : balance,
    depositDue:
      stay.status === 'confirmed' || stay.status === 'checked_in' ? uncovered(deposits, credits, stay.now) : 0,
    currency: stay.currency,
  }
}

const noteOf = async (trx: Trx, note: ReservationNoteRow) => {
  const { id, audience, alert, createdBy, createdAt } = note
  const { text } = await openNote(trx, note)
  return {
    id,
    audience,
    alertAt: alert,
    text,
    createdBy: (createdBy as { id: string | null }).id,
    createdAt,
  }
}

const requestsOf = async (trx: Trx, { id, requests }: ReservationRow): Promise<string | null> =>
  requests === null
    ? null
    : (await unseal<{ requests: string | null }>(trx, 'tenant', requestsPlace(id), requests)).requests

/**
 * A stay with all that the desk asks of it: nights, guests, extras, notes of every audience, units, installments, flags and the sums of its folios. Its
 * reader leaves out the notes and amounts that the caller is not for. 404.
 */
export const readReservation = async (trx: Trx, id: string) => {
  const parts = await read(trx, id)
  const { stay, booking, nights, guests, extras, assignments, deposits, folios } = parts
  const property = await readProperty(trx, stay.propertyId)
  if (!property) throw notFound()
  const [fees] = feesOf(property, booking, [stay], stay.now, nights)
  const text = (value: LocalText) => textIn(value, property.locales[0] ?? 'en', ...property.locales)
  const { cancellation, noShow, deposit } = policiesOf(stay)
  const snapshot = (policy: typeof cancellation | typeof noShow | NonNullable<typeof deposit>) => ({
    versionId: policy.versionId,
    text: policy.text,
    hash: policy.hash,
  })
  return {
    ...stay,
    number: `${stay.bookingNumber}-${stay.position}`,
    businessDate: presentDayOf(property),
    unitTypeName: text(stay.unitTypeName),
    ratePlanName: text(stay.ratePlanName),
    primaryGuest: stay.primaryGuestId === null ? null : { guestId: stay.primaryGuestId, name: stay.guestName ?? '' },
    requests: await requestsOf(trx, stay),
    policies: {
      cancellation: snapshot(cancellation),
      noShow: snapshot(noShow),
      deposit: deposit && snapshot(deposit),
    },
    booking: {
      id: booking.id,
      number: booking.number,
      source: booking.source,
      bookerGuestId: booking.bookerGuestId,
      externalReference: booking.externalReference,
      groupId: booking.groupId,
      companyId: booking.companyId,
      agencyId: booking.agencyId,
      channelConnectionId: booking.channelConnectionId,
      externalId: booking.externalId,
      collectedBy: booking.collectedBy,
      language: booking.language,
      holdKind: booking.holdKind,
      holdExpiresAt: booking.holdExpiresAt,
      credit: booking.credit,
    },
    nights,
    guests: guests.map(({ name, ...one }) => ({ ...one, name: name ?? '' })),
    extras,
    notes: await Promise.all(parts.notes.map((note) => noteOf(trx, note))),
    assignments,
    deposits: installmentsOf(deposits, sum(folios.map((one) => one.credits)), stay.now),
    fees: {
      cancelNow: stay.status === 'held' || stay.status === 'confirmed' ? (fees?.fee ?? 0) : null,
      nextDeadline: fees?.nextDeadline ?? null,
    },
    folioSummary: folioSummaryOf(parts, property),
  }
}

export type ReservationShown = Awaited<ReturnType<typeof readReservation>>
