/** Books a room at the portal of a house, pays what is due, and cancels: `BASE=http://127.0.0.1:3000 npx tsx booking.ts`. */
import createClient from 'openapi-fetch'
import type { paths } from './pousada.d.ts'

const baseUrl = process.env.BASE ?? 'http://127.0.0.1:3000'
const propertyId = process.env.HOUSE ?? 'd0000000-0000-4000-8000-000000000011'
const pousada = createClient<paths>({ baseUrl })

/** The data of a reply; throws the error as the API tells it. */
const must = <T>({ data, error }: { data?: T; error?: unknown }): T => {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}
const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
const arrival = day(60)
const departure = day(62)
const path = { propertyId }

const config = must(await pousada.GET('/api/public/property/{propertyId}/config', { params: { path } }))
const found = must(
  await pousada.GET('/api/public/property/{propertyId}/availability', {
    params: { path, query: { arrival, departure, adults: 2 } },
  }),
)
const offer = 'offers' in found ? found.offers.find(({ dueNow }) => dueNow > 0) : undefined
if (!offer) throw new Error('nothing is free that is paid in advance')

const { unitTypeId, ratePlanId } = offer
const quoted = must(
  await pousada.POST('/api/public/quotes', {
    body: {
      propertyId,
      arrival,
      departure,
      rooms: [{ unitTypeId, ratePlanId, adults: 2, childrenAges: [], extras: [] }],
    },
  }),
)
const booker = {
  firstName: 'Clara',
  lastName: 'Nunes',
  email: `clara-${crypto.randomUUID()}@guests.example`,
  phone: '+5511987654321',
}
const held = must(
  await pousada.POST('/api/public/reservations/hold', {
    body: { quote: quoted.quote, acceptedTerms: config.portal.termsVersion, booker },
  }),
)
console.log('held', held.number, quoted.total, quoted.currency)

const headers = { 'X-Guest-Token': held.guestToken }
const begun = must(
  await pousada.POST('/api/public/payments/create', { headers, body: { method: 'card', cardToken: 'success' } }),
)
for (let status = begun.status; status === 'pending' || status === 'processing';) {
  const query = { waitSeconds: 10, since: status }
  const params = { path: { paymentId: begun.paymentId }, query }
  status = must(await pousada.GET('/api/public/payments/{paymentId}/status', { params, headers })).status
}
const confirmed = must(await pousada.POST('/api/public/reservations/confirm', { headers, body: {} }))
console.log(confirmed.status)

const current = must(await pousada.GET('/api/public/reservations/current', { headers }))
console.log(current.rooms.length, 'room')
