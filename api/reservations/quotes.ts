import { sampleDay, sampleId } from '../../config/samples.ts'
import { ChildrenAges, extraBases } from '../../config/quote.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  List,
  LocaleTag,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { signToken } from '../../config/tokens.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { createQuote, listQuotes, quoteSorts, readQuote } from '../../db/reservations/index.ts'
import type { QuoteListed } from '../../db/reservations/index.ts'
import { grantOverride } from '../lib/override.ts'
import { resource } from '../lib/resource.ts'
import { ChosenExtras, ManualNights, Override } from './requests.ts'
import { Adults, BookingNumber, TaxLine } from './schemas.ts'

const Status = OneOf(['open', 'used', 'expired'])
const path = '/api/tenants/:tenantId/quotes'
/** A quote of many long stays is not handed on as a token. */
const longestClaims = 28_000

const QuotedRoom = Obj(
  {
    unitTypeId: Uuid,
    ratePlanId: Uuid,
    arrival: Day,
    departure: Day,
    adults: Adults,
    childrenAges: ChildrenAges,
    nights: List(Obj({ date: Day, amount: Amount, taxes: List(TaxLine, { max: 50 }) }), { max: 366 }),
    extras: List(
      Obj({
        extraId: Uuid,
        name: Text(0, 200),
        basis: OneOf([...extraBases]),
        quantity: Int(1, 99),
        unitAmount: Amount,
        amount: Amount,
        mandatory: Bool,
        from: Day,
        until: Day,
        taxes: List(TaxLine, { max: 50 }),
      }),
      { max: 50 },
    ),
    roomTotal: Amount,
    extrasTotal: Amount,
    taxTotal: Amount,
    total: Amount,
    policies: Obj({ cancellation: Uuid, noShow: Uuid, deposit: Nullable(Uuid) }),
  },
  { title: 'StaffQuoteRoom' },
)

const Words = Text(0, 50_000)
const fields = {
  id: Uuid,
  number: BookingNumber,
  propertyId: Uuid,
  guestId: Nullable(Uuid),
  companyId: Nullable(Uuid),
  status: Status,
  arrival: Day,
  departure: Day,
  rooms: List(QuotedRoom, { max: 9 }),
  currency: Currency,
  total: Amount,
  dueNow: Amount,
  promoCode: Nullable(Text(1, 30)),
  locale: LocaleTag,
  hash: Text(64, 64),
  expiresAt: Instant,
  bookingId: Nullable(Uuid),
  createdAt: Instant,
}
const QuoteSummary = Obj(fields, { title: 'QuoteSummary' })
const StaffQuote = Obj(
  {
    ...fields,
    /** The quote as the portal takes it while it is open; null where its rooms have different days. */
    token: Nullable(Text(1, 200_000)),
    /** Names and policies of the rooms, as they are sold now; empty where they are not. */
    texts: List(
      Obj({
        unitTypeName: Words,
        ratePlanName: Words,
        cancellation: Words,
        noShow: Words,
        deposit: Words,
      }),
      { max: 9 },
    ),
    /** True if it could be booked at this moment; `problems` says what stands against it. */
    feasible: Bool,
    problems: List(Obj({ field: Text(0, 200), message: Text(0, 2_000) }), { max: 400 }),
  },
  { title: 'StaffQuote' },
)

const tokenOf = async ({ claims, secondsLeft }: QuoteListed): Promise<string | null> =>
  claims === null || secondsLeft === 0 || JSON.stringify(claims).length > longestClaims
    ? null
    : signToken('quote', claims, secondsLeft)

const readWithToken = async (trx: Trx, id: string) => {
  const quote = await readQuote(trx, id)
  return { ...quote, token: await tokenOf(quote) }
}

const quotes = resource({
  name: 'quotes',
  subject: 'Quote',
  table: 'quote',
  path,
  param: 'quoteId',
  record: StaffQuote,
  read: readWithToken,
})

const list = quotes.list({
  summary: 'List quotes by guest, company, dates or use',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Status),
    guestId: Opt(Uuid),
    companyId: Opt(Uuid),
    arrivalFrom: Opt(Day),
    arrivalTo: Opt(Day),
  },
  sort: { by: Object.keys(quoteSorts) as (keyof typeof quoteSorts)[], usual: '-createdAt' },
  of: QuoteSummary,
  example: { status: 'open' },
  find: ({ trx, filter }) => listQuotes(trx, filter),
})

const create = quotes.create({
  summary: 'Price up to nine rooms and freeze the price',
  description:
    'Nothing is taken. The quote lives for the hours that the property sets, or those that are asked for; one booking can be made from it. Prices set by hand need the rule price.',
  errors: [
    'sold_out',
    'guest_erased',
    'override_not_permitted',
    'beyond_horizon',
    'restriction_violated',
    'occupancy_exceeded',
    'extra_unavailable',
    'promo_code_invalid',
    'property_not_selling',
    'transition_blocked',
    'reference_not_found',
    'too_many_nights',
    'too_many_rooms',
    'company_archived',
    'not_found',
  ],
  body: Obj({
    propertyId: Uuid,
    rooms: List(
      Obj({
        unitTypeId: Uuid,
        ratePlanId: Uuid,
        arrival: Day,
        departure: Day,
        adults: Adults,
        childrenAges: ChildrenAges,
        extras: Opt(ChosenExtras),
        manualNights: Opt(ManualNights),
      }),
      { min: 1, max: 9 },
    ),
    promoCode: Opt(Text(1, 30)),
    guestId: Opt(Uuid),
    companyId: Opt(Uuid),
    hours: Opt(Int(1, 336)),
    override: Opt(Override),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    rooms: [
      {
        unitTypeId: sampleId('unitTypeId'),
        ratePlanId: sampleId('ratePlanId'),
        arrival: sampleDay(30),
        departure: sampleDay(32),
        adults: 2,
        childrenAges: [],
      },
    ],
    hours: 48,
  },
  command: ({ trx, body: { rooms, override, ...body }, caller, admission }) => {
    admission.check('create', 'Quote', { propertyId: body.propertyId })
    return createQuote(trx, {
      ...body,
      rooms: rooms.map(({ extras = [], ...room }) => ({ ...room, extras })),
      override: grantOverride({ caller, admission }, override),
    })
  },
})

const read = quotes.read({ summary: 'Read a quote with prices, policies and feasibility now' })

export const routes = [list, create, read]
