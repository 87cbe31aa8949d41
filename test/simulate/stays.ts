import { addDays } from '../../config/time.ts'
import type { Random } from '../chaos/random.ts'
import { atTheDoor } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { stranger } from '../support/stay.ts'
import type { SimulatedHouse } from './house.ts'

/** Days after the first of an inn. */
const ahead = ({ inn, date }: SimulatedHouse) => Math.round((Date.parse(date) - Date.parse(inn.D)) / 86_400_000)

const leads = { today: [0, 0], soon: [1, 3], later: [4, 14], far: [15, 45] } as const

/** A room and its nights, from the business date of the house on. */
const drawn = (house: SimulatedHouse, random: Random) => {
  const [least, most] = leads[random.weighted({ today: 3, soon: 4, later: 3, far: 2 })]
  const from = ahead(house) + random.between(least, most)
  const type = random.chance(0.7) ? 'STD' : 'SUP'
  return { type, range: [from, from + random.between(1, 4)] as [number, number] }
}

/** A name that few others have, so that guests are seldom taken for one another. */
const surname = (random: Random) =>
  `${random.pick(['Al', 'Bra', 'Co', 'Dou', 'Fer'])}${random.pick(['ra', 'mi', 'ste', 'lo', 'nei'])}${random.pick(['do', 'ga', 'zes', 'va', 'rim'])}`

/** Bookings by telephone and at the portal, of which some pay at once, and some are never paid. */
export const bookSome = async (house: SimulatedHouse, random: Random): Promise<number> => {
  const { inn, group } = house
  const { hand, tenant } = group
  let made = 0
  for (let calls = random.between(1, 3); calls > 0; calls -= 1) {
    const { type, range } = drawn(house, random)
    const isBilled = random.chance(0.15)
    const children = random.chance(0.2) && type === 'STD' ? { childrenAges: [6] } : {}
    const booked = await hand.post(tenant.reception, 'bookings', {
      propertyId: house.propertyId,
      source: random.pick(['phone', 'email', 'desk']),
      booker: { firstName: random.pick(['Rui', 'Ana', 'Lia']), lastName: surname(random), email: stranger().email },
      rooms: [inn.room(type, isBilled ? 'CORP' : 'FLEX', range, children)],
      ...(isBilled ? { companyId: group.ids.companyId } : {}),
    })
    if (booked) made += 1
  }
  if (random.chance(0.6)) made += await bookAtPortal(house, random)
  return made
}

const bookAtPortal = async (house: SimulatedHouse, random: Random): Promise<number> => {
  const { inn, group } = house
  const { world } = group.tenant
  const { type, range } = drawn(house, random)
  const publicly = async (method: string, path: string, body?: object, guest?: string) =>
    group.hand.judge(
      method,
      path,
      await world.request(method, `/api/public/${path}`, {
        ...(guest ? { guest } : { key: group.tenant.key }),
        ...(body ? { body } : {}),
        headers: { 'x-client-ip': stranger().address.split('/')[0] ?? '' },
      }),
    )
  const { arrival, departure, ...room } = inn.room(type, random.chance(0.6) ? 'DEP' : 'FLEX', range, { extras: [] })
  const quote = await publicly('POST', 'quotes', { propertyId: inn.propertyId, arrival, departure, rooms: [room] })
  if (!quote?.quote) return 0
  const config = await publicly('GET', `property/${inn.propertyId}/config`)
  const held = await publicly('POST', 'reservations/hold', {
    quote: quote.quote,
    acceptedTerms: config?.portal.termsVersion,
    booker: {
      firstName: 'Eva',
      lastName: surname(random),
      email: stranger().email,
      phone: `+55249${random.between(10_000_000, 99_999_999)}`,
    },
  })
  if (!held) return 0
  const token = held.guestToken as string
  if (held.dueNow === 0) {
    await publicly('POST', 'reservations/confirm', {}, token)
    return 1
  }
  const cardToken = random.weighted({ success: 8, decline: 1, disputed: 1, lost_callback: 1, duplicate_callback: 1 })
  await publicly('POST', 'payments/create', { method: 'card', amount: random.pick(['due', 'all']), cardToken }, token)
  return 1
}

/** Some stays to come are cancelled, or change their nights. */
export const changeSome = async (house: SimulatedHouse, random: Random): Promise<void> => {
  const { group, propertyId } = house
  const { hand, tenant } = group
  const from = addDays(house.date, 1)
  const { data } = await hand.read(
    tenant.reception,
    `reservations?propertyId=${propertyId}&status=confirmed&dateField=arrival&startDate=${from}&limit=20`,
  )
  for (const { id, arrival, departure } of random.shuffled(data as Parsed[]).slice(0, 2)) {
    const address = `reservations/${id}`
    if (random.chance(0.4)) {
      const { commands } = await hand.read(tenant.reception, `${address}/transitions`)
      const cancel = (commands as Parsed[]).find((one) => one.command === 'cancel')
      const fee = cancel?.effects.fee as number
      await hand.post(tenant.reception, `${address}/cancel`, {
        reason: 'changed_plans',
        refund: 'automatic',
        ...(fee > 0 ? { acceptedFee: fee } : {}),
      })
      continue
    }
    const changes = random.chance(0.5)
      ? { departure: addDays(departure, 1) }
      : { arrival: addDays(arrival, 1), departure: addDays(departure, 1) }
    const proposal = await hand.post(tenant.reception, `${address}/amendments`, { changes })
    if (proposal?.feasible) await hand.post(tenant.reception, `${address}/amendments/${proposal.amendmentId}/accept`)
  }
}

const listed = async (house: SimulatedHouse, which: string): Promise<Parsed[]> => {
  const { hand, tenant } = house.group
  return (await hand.read(tenant.reception, `front-desk/${which}?propertyId=${house.propertyId}&limit=100`)).data
}

/** Guests arrive; a few never come. */
export const welcome = async (house: SimulatedHouse, random: Random): Promise<void> => {
  const { hand, tenant } = house.group
  for (const row of await listed(house, 'arrivals'))
    if (!row.done && random.chance(0.93))
      await hand.post(tenant.reception, `reservations/${row.reservationId}/check-in`, { override: atTheDoor })
}

/** Guests in the house eat, drink and complain; the drawer of the day takes what they pay in cash. */
export const serve = async (house: SimulatedHouse, random: Random): Promise<number> => {
  const { group, outletId, terminalId } = house
  const { hand, tenant } = group
  let cash = 0
  for (const row of await listed(house, 'in-house')) {
    if (row.done) continue
    const stay = await hand.read(tenant.reception, `reservations/${row.reservationId}`)
    if (stay.status !== 'checked_in') continue
    const folioId = stay.folioSummary.folios[0]?.id as string
    if (random.chance(0.5))
      await hand.post(tenant.reception, `folios/${folioId}/charges`, {
        category: 'minibar',
        description: 'Water',
        quantity: String(random.between(1, 3)),
        unitAmount: 600,
      })
    if (random.chance(0.2) && stay.departure > house.date)
      await hand.post(tenant.reception, `reservations/${row.reservationId}/extras`, {
        extraId: house.inn.id('BRK'),
        quantity: 1,
      })
    if (random.chance(0.4))
      await hand.post(tenant.owner, 'inventory/orders', {
        outletId,
        lines: [{ priceCode: 'TONIC', quantity: String(random.between(1, 2)) }],
        ...(random.chance(0.7)
          ? { reservationId: row.reservationId, close: { settlements: [{ type: 'folio' }] } }
          : { close: { settlements: [{ type: 'payment', method: 'card', cashAccountId: terminalId }] } }),
      })
    if (random.chance(0.1)) {
      const { data: lines } = await hand.read(tenant.reception, `folios/${folioId}/lines?limit=100`)
      const line = (lines as Parsed[]).find((one) => one.kind === 'charge' && one.amount > 100)
      if (line)
        await hand.post(tenant.manager, `folios/${folioId}/adjustments`, {
          lineId: line.id,
          amount: 100,
          reason: 'The bottle was open',
        })
    }
    if (random.chance(0.1)) cash += await payInCash(house, folioId, 1_000)
  }
  return cash
}

const payInCash = async (house: SimulatedHouse, folioId: string, amount: number): Promise<number> => {
  const paid = await house.group.hand.post(house.cashier, 'payments/record', {
    propertyId: house.propertyId,
    method: 'cash',
    amount,
    currency: 'BRL',
    targetType: 'folio',
    targetId: folioId,
  })
  return paid ? amount : 0
}

/** Guests who leave pay what they owe, in one of four ways. Answers what the drawer took. */
export const settleBills = async (house: SimulatedHouse, random: Random): Promise<number> => {
  const { group, propertyId, terminalId } = house
  const { hand, tenant } = group
  let cash = 0
  for (const row of await listed(house, 'departures')) {
    if (row.done) continue
    const address = `reservations/${row.reservationId}`
    const stay = await hand.read(tenant.reception, address)
    if (stay.status !== 'checked_in') continue
    for (const { id, balance } of stay.folioSummary.folios as Parsed[]) {
      if (!(balance > 0)) continue
      const target = { currency: 'BRL', targetType: 'folio', targetId: id }
      const way = random.weighted({ cash: 3, terminal: 3, gateway: 3, transfer: 1 })
      if (way === 'cash') cash += await payInCash(house, id, balance)
      else if (way === 'gateway')
        await hand.post(tenant.reception, 'payments', {
          ...target,
          method: 'card',
          amount: balance,
          cardToken: random.weighted({ success: 20, disputed: 1, decline: 1 }),
        })
      else
        await hand.post(tenant.owner, 'payments/record', {
          ...target,
          propertyId,
          method: way === 'terminal' ? 'terminal' : 'bank_transfer',
          amount: balance,
          cashAccountId: way === 'terminal' ? terminalId : group.ids.bankId,
        })
    }
  }
  return cash
}

/** Guests leave, once the workers know of their payments. */
export const bidFarewell = async (house: SimulatedHouse): Promise<void> => {
  const { hand, tenant } = house.group
  for (const row of await listed(house, 'departures'))
    if (!row.done && row.status === 'checked_in')
      await hand.post(tenant.reception, `reservations/${row.reservationId}/check-out`)
}
