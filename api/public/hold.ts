import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { QuoteClaims } from '../../config/quote.ts'
import {
  Bool,
  Country,
  Email,
  List,
  LocaleTag,
  Matching,
  Obj,
  OneOf,
  Opt,
  Phone,
  Text,
  TimeOfDay,
  personName,
} from '../../config/schema.ts'
import type { Static } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'
import { isCpf } from '../../config/tax-ids.ts'
import { contextOf } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { termsVersion, propertyFor } from '../../db/properties/index.ts'
import type { SaleProperty } from '../../db/properties/index.ts'
import { tokensCalledBack, holdStay, hashAddress, showBooking } from '../../db/reservations/index.ts'
import { publicProperty } from '../lib/access/kinds.ts'
import type { Unjudged } from '../lib/access/kinds.ts'
import type { Caller } from '../lib/caller.ts'
import { Reply, route } from '../lib/route.ts'
import type { RequestFacts } from '../lib/route.ts'
import { clientAddress } from './client-address.ts'
import { verifyToken } from '../../config/tokens.ts'
import { guestBooking, HeldBooking, holdTokenSeconds, mintGuestToken } from './guest-booking.ts'
import { countingHold, refuseBeyondRate } from './hold-rate.ts'

const Name = Matching(personName, 100)

const HoldRequest = Obj({
  quote: Text(1, 40_000),
  booker: Obj({
    firstName: Name,
    lastName: Name,
    email: Email,
    phone: Opt(Phone),
    countryCode: Opt(Country),
    document: Opt(
      Obj({
        type: OneOf(['cpf', 'passport', 'other']),
        number: Matching('^[0-9A-Za-z.\\-/ ]{3,30}$', 30, { cardNumber: 'document' }),
      }),
    ),
  }),
  guests: Opt(List(List(Obj({ firstName: Name, lastName: Name }), { max: 40 }), { max: 9 })),
  arrivalTime: Opt(TimeOfDay),
  requests: Opt(Text(0, 500)),
  acceptedTerms: Text(1, 64),
  marketing: Opt(Obj({ email: Opt(Bool), sms: Opt(Bool), whatsapp: Opt(Bool) })),
  locale: Opt(LocaleTag),
})
type HoldBody = Static<typeof HoldRequest>

const quoteInvalid = () =>
  unprocessable('quote_invalid', 'This quote is not valid; ask for a new one', [
    { field: 'quote', message: 'is not valid' },
  ])
const isClaims = compile(QuoteClaims)

/** Claims of a quote token, if it is ours and has not expired. */
const openQuote = async (token: string): Promise<QuoteClaims> => {
  const result = await verifyToken('quote', token)
  if (!result.ok)
    throw result.expired ? unprocessable('quote_expired', 'The quote has expired; ask for a new one') : quoteInvalid()
  const { iss: _iss, aud: _aud, iat: _iat, exp: _exp, ...claims } = result.claims
  if (isClaims(claims)) throw quoteInvalid()
  return claims as unknown as QuoteClaims
}

/** Quotes of bodies that are being served: a signature is looked at once. */
const opened = new WeakMap<object, QuoteClaims>()

const propertyOfQuote = async ({ body }: Unjudged): Promise<string> => {
  const token = typeof body === 'object' && body !== null && 'quote' in body ? body.quote : undefined
  if (typeof token !== 'string')
    throw invalid([{ field: 'quote', message: token === undefined ? 'is required' : 'must be a string' }])
  const claims = await openQuote(token)
  opened.set(body as object, claims)
  return claims.propertyId
}

const missingFields = (property: SaleProperty, body: HoldBody): FieldError[] => {
  const given: Record<string, unknown> = { ...body.booker, arrivalTime: body.arrivalTime }
  return property.settings.portal.requiredGuestFields
    .filter((field) => given[field] === undefined)
    .map((field) => ({ field: field === 'arrivalTime' ? field : `booker.${field}`, message: 'is required' }))
}

/** Checks beyond the schema: fields that this property requires, check digits, names for more guests than booked. */
const problemsOf = (property: SaleProperty, claims: QuoteClaims, body: HoldBody): FieldError[] => {
  const { document } = body.booker
  const crowded = (body.guests ?? []).flatMap((names, index) => {
    const room = claims.rooms[index]
    if (!room) return [{ field: `guests.${index}`, message: 'the quote has no such room' }]
    return names.length > room.adults + room.childrenAges.length
      ? [{ field: `guests.${index}`, message: 'names more people than the room is quoted for' }]
      : []
  })
  const wrongNumber =
    document?.type === 'cpf' && !isCpf(document.number)
      ? [{ field: 'booker.document.number', message: 'is not a valid CPF' }]
      : []
  return [...missingFields(property, body), ...crowded, ...wrongNumber]
}

/** Refuses terms that are not the current ones (R7 of public.md). A repeated hold has accepted them already. */
const refuseOldTerms = (property: SaleProperty, { acceptedTerms }: HoldBody): void => {
  if (acceptedTerms !== termsVersion(property.settings.portal.terms))
    throw conflict('terms_changed', 'The terms have changed; read them again', [
      { field: 'acceptedTerms', message: 'is not the present version' },
    ])
}

type Asked = { tenantId: string; body: HoldBody; caller: Caller; request: RequestFacts }

const hold = async (trx: Trx, { tenantId, body, caller, request }: Asked) => {
  const claims = opened.get(body) ?? (await openQuote(body.quote))
  const property = await propertyFor(trx, claims.propertyId, 'portal')
  const problems = problemsOf(property, claims, body)
  if (problems.length > 0) throw invalid(problems)
  const bookingId = randomUUID()
  const [held, token] = await Promise.all([
    holdStay(trx, {
      claims,
      words: {
        booker: body.booker,
        guests: body.guests ?? [],
        requests: body.requests === undefined || body.requests.trim() === '' ? null : body.requests,
        marketing: body.marketing ?? null,
        termsVersion: body.acceptedTerms,
      },
      arrivalTime: body.arrivalTime ?? null,
      addressHash: hashAddress(trx, clientAddress(caller, tenantId, request)),
      locale: body.locale,
      property,
      bookingId,
      judgeNew: () => {
        refuseOldTerms(property, body)
        refuseBeyondRate(request)
      },
    }),
    // Signed while the hold is written, since other holds wait once its counters are locked.
    mintGuestToken(tenantId, bookingId, holdTokenSeconds),
  ])
  if (held.parts) return { body: { ...showBooking(held.parts), ...token }, status: 201 } as const
  const shown = await guestBooking(trx, held.bookingId, property)
  return {
    body: { ...shown, ...(await mintGuestToken(tenantId, held.bookingId, holdTokenSeconds)) },
    status: 200,
  } as const
}

export const routes = [
  route({
    id: 'public.reservations.hold',
    method: 'POST',
    path: '/api/public/reservations/hold',
    summary: 'Hold the quoted stay for a guest',
    access: publicProperty(propertyOfQuote),
    body: HoldRequest,
    // A quote of nine rooms and ninety nights, and the names of their guests.
    bodyLimit: 160 * 1024,
    example: {
      quote: 'v4.public.the-token-of-the-quote',
      booker: { firstName: 'Ana', lastName: 'Souza', email: 'ana@guest.example', phone: '+5524999990000' },
      acceptedTerms: 'the-version-of-the-terms',
      locale: 'pt-BR',
    },
    returns: HeldBooking,
    status: 201,
    ok: 'The booking of an earlier hold of this quote',
    errors: [
      'sold_out',
      'quote_used',
      'terms_changed',
      'quote_expired',
      'quote_invalid',
      'restriction_violated',
      'promo_code_invalid',
      'property_not_selling',
      'booking_refused',
      'hold_limit',
      'not_found',
      'too_many_nights',
      'too_many_rooms',
      'occupancy_exceeded',
      'extra_unavailable',
      'beyond_horizon',
    ],
    around: ({ caller, tenantId, request }, run) =>
      countingHold(clientAddress(caller, tenantId, request), request, run),
    handle: async ({ trx, ...asked }) => {
      const { body, status } = await hold(trx, asked)
      return new Reply(body, { status })
    },
    keep: ({ guestToken: _token, guestTokenExpiresAt: _expiresAt, ...booking }) => booking,
    replay: async (booking: { bookingId: string }, { trx }) => {
      const { tenantId } = contextOf(trx)
      if (await tokensCalledBack(trx, booking.bookingId))
        throw conflict('quote_used', 'This quote has been used; ask for a new one')
      return { ...booking, ...(await mintGuestToken(tenantId ?? '', booking.bookingId, holdTokenSeconds)) }
    },
  }),
]
