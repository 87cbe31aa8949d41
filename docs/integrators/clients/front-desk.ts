/** Checks a guest in at the door, charges and takes money, and checks the guest out: `npx tsx front-desk.ts`. */
import createClient from 'openapi-fetch'
import type { paths } from './pousada.d.ts'

const baseUrl = process.env.BASE ?? 'http://127.0.0.1:3000'
const tenantId = 'd0000000-0000-4000-8000-000000000001'
const propertyId = 'd0000000-0000-4000-8000-000000000011'
const rooms = { unitTypeId: 'd0000000-0000-4000-8000-000000000101', ratePlanId: 'd0000000-0000-4000-8000-000000000201' }
const pousada = createClient<paths>({ baseUrl })

/** The data of a reply; throws the error as the API tells it. */
const must = <T>({ data, error }: { data?: T; error?: unknown }): T => {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}
const signedIn = must(
  await pousada.POST('/api/auth/sign-in/email', {
    body: { email: 'reception@sol.example', password: 'pousada-demo-2026' },
  }),
)
pousada.use({ onRequest: ({ request }) => request.headers.set('Authorization', `Bearer ${signedIn.token}`) })
const path = { tenantId }
/** A command that is safe to repeat. */
const once = () => ({ 'Idempotency-Key': crypto.randomUUID() })

const { businessDate } = must(
  await pousada.GET('/api/tenants/{tenantId}/front-desk/summary', { params: { path, query: { propertyId } } }),
)
const departure = new Date(Date.parse(businessDate) + 86_400_000).toISOString().slice(0, 10)
const booking = must(
  await pousada.POST('/api/tenants/{tenantId}/bookings', {
    params: { path, header: once() },
    body: {
      propertyId,
      source: 'walk_in',
      checkIn: {},
      booker: { firstName: 'Vera', lastName: 'Prado', email: `vera-${crypto.randomUUID()}@guests.example` },
      rooms: [{ ...rooms, arrival: businessDate, departure, adults: 1, childrenAges: [] }],
      override: { rules: ['early_check_in', 'unit_condition'], reason: 'The guest waits' },
    },
  }),
)
const reservationId = booking.reservations[0]?.id ?? ''
const ofStay = { path: { tenantId, reservationId } }
const stay = must(await pousada.GET('/api/tenants/{tenantId}/reservations/{reservationId}', { params: ofStay }))
console.log(stay.status, stay.assignments[0]?.unitName)

const folioId = stay.folioSummary?.folios[0]?.id ?? ''
const charged = must(
  await pousada.POST('/api/tenants/{tenantId}/folios/{folioId}/charges', {
    params: { path: { tenantId, folioId }, header: once() },
    body: { category: 'minibar', description: 'Water', quantity: '2', unitAmount: 600 },
  }),
)
console.log('charged', charged.lines[0]?.amount)

const { projected } = must(
  await pousada.GET('/api/tenants/{tenantId}/reservations/{reservationId}', { params: ofStay }),
).folioSummary ?? { projected: 0 }
const payment = must(
  await pousada.POST('/api/tenants/{tenantId}/payments', {
    params: { path, header: once() },
    body: {
      method: 'card',
      cardToken: 'success',
      amount: projected,
      currency: 'BRL',
      targetType: 'folio',
      targetId: folioId,
    },
  }),
)
const ofPayment = { tenantId, paymentId: payment.id }
for (let { status } = payment; status !== 'captured';) {
  const query = { waitSeconds: 10, since: status }
  const params = { path: ofPayment, query }
  status = must(await pousada.GET('/api/tenants/{tenantId}/payments/{paymentId}', { params })).status
  if (status === 'failed') throw new Error('the card was declined')
}
const left = must(
  await pousada.POST('/api/tenants/{tenantId}/reservations/{reservationId}/check-out', {
    params: { ...ofStay, header: once() },
    body: { early: true, chargeTonight: true, refund: 'automatic' },
  }),
)
console.log(left.status)
