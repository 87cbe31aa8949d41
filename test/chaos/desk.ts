import { setTimeout as wait } from 'node:timers/promises'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { createPolicy } from '../../db/properties/terms/policies.ts'
import type { House, HouseOptions } from '../support/factories.ts'
import { saysYes } from './client.ts'
import type { Insistent } from './client.ts'
import { holdAsGuest } from './guest.ts'
import { deskCommands } from './desk-commands.ts'
import type { DeskAction } from './ledger.ts'
import { randomOf } from './random.ts'
import type { Random } from './random.ts'

/** A house whose desk may check in at any hour, into any unit, and need not wait for who has not come. */
export const openAllDay: HouseOptions = {
  checkInFrom: '00:00',
  settings: {
    frontDesk: { noShowFrom: '00:00', conditions: ['dirty', 'cleaning', 'clean', 'inspected', 'pickup'] },
  },
}

const nothing = { type: 'none', value: 0, of: 'total' } as const

/** A plan of the door in each house, by property: nothing is due before the stay, and nothing where it ends early or never begins. */
export const openDoors = async (houses: readonly House[]): Promise<Map<string, string>> => {
  const plans = new Map<string, string>()
  for (const { propertyId, unitTypeId, inHouse } of houses)
    await inHouse(async (trx) => {
      const policy = { propertyId, code: 'DOOR', name: 'At the door' }
      const planId = await createRatePlan(trx, {
        propertyId,
        code: 'DOOR',
        name: { 'pt-BR': 'No balcão', en: 'At the door' },
        cancellationPolicyId: await createPolicy(trx, {
          ...policy,
          kind: 'cancellation',
          rules: { tiers: [], after: nothing, graceHoursAfterBooking: 0, earlyDeparture: nothing },
        }),
        noShowPolicyId: await createPolicy(trx, {
          ...policy,
          code: 'NEVER',
          kind: 'no_show',
          rules: { fee: nothing, releaseRemaining: true },
        }),
        unitTypes: [{ unitTypeId, standardAmount: 20_000 }],
      })
      plans.set(propertyId, planId)
    })
  return plans
}

const reason = 'The desk was wrong'

/** The next act of a desk on a stay of a status, by chance; null where it has done all. */
const nextOf = (random: Random, house: House, status: string): { action: DeskAction; body: object } | null => {
  const way = random.next()
  if (status === 'confirmed')
    return way < 0.2
      ? { action: 'reservations.noShow', body: {} }
      : { action: 'reservations.checkIn', body: way < 0.6 ? {} : { unitId: random.pick(house.unitIds) } }
  if (status === 'checked_in')
    return way < 0.3
      ? { action: 'reservations.move', body: { unitId: random.pick(house.unitIds), reason: 'noise' } }
      : way < 0.4
        ? { action: 'reservations.revertCheckIn', body: { reason } }
        : { action: 'reservations.checkOut', body: { early: true, refund: 'automatic' } }
  if (status === 'checked_out' && way < 0.25) return { action: 'reservations.revertCheckOut', body: { reason } }
  return null
}

type Booked = { bookingId: string; email: string }

type Options = {
  apis: readonly string[]
  houses: readonly House[]
  keys: readonly { tenantId: string; key: string }[]
  /** Plans of the door. */
  plans: ReadonlyMap<string, string>
  seed: number
}

/** Some desks let in guests of the portal, who have paid; the others sell rooms to whom stands before them. */
const desks = ['portal', 'portal', 'door', 'door'] as const
const mostSteps = 8

/** Desks that let in who has paid at the portal, move them, let them go, and say who has not come; two of them work on one stay now and then. */
export const startDesks = (client: Insistent, { apis, houses, keys, plans, seed }: Options) => {
  let isOver = false
  let moves = 0

  const placeOf = ({ tenantId }: House) => ({
    key: keys.find((one) => one.tenantId === tenantId)?.key ?? '',
    path: `/api/tenants/${tenantId}`,
  })

  const serve = async (random: Random, house: House, { bookingId, email }: Booked) => {
    const { key, path } = placeOf(house)
    const stayOf = async () => {
      const booking = await client.read(random, `${path}/bookings/${bookingId}`, { key })
      const [stay] = (booking?.body.reservations ?? []) as { id: string; status: string }[]
      return stay ?? null
    }
    for (let looks = 40; looks > 0 && !isOver && (await stayOf())?.status === 'held'; looks -= 1) await wait(500)
    for (let steps = 0; steps < mostSteps && !isOver; steps += 1) {
      const stay = await stayOf()
      const next = stay && nextOf(random, house, stay.status)
      if (!stay || !next) return
      const send = ({ action, body }: typeof next) =>
        client.command(
          random,
          action,
          `${path}/reservations/${stay.id}/${deskCommands[action].verb}`,
          { key, body },
          { bookingId, email },
        )
      // The other desk has the same guest before it, and may have another mind.
      const other = random.chance(0.25) ? (nextOf(random, house, stay.status) ?? next) : null
      const replies = await Promise.all([send(next), ...(other ? [send(other)] : [])])
      moves += replies.filter((reply) => reply && saysYes(reply)).length
      await wait(random.between(100, 600))
    }
  }

  const comes = {
    portal: async (random: Random, house: House, email: string): Promise<Booked | null> => {
      const guest = await holdAsGuest(client, random, apis, house, {
        arrival: 0,
        nights: random.between(1, 2),
        saver: false,
        email,
        from: `127.251.${random.between(1, 250)}.${random.between(1, 250)}`,
      })
      const paid = guest && (await guest.pay({ method: 'card', amount: 'all', cardToken: 'success' }))
      return paid && saysYes(paid) ? { bookingId: guest.bookingId, email } : null
    },
    door: async (random: Random, house: House, email: string): Promise<Booked | null> => {
      const { key, path } = placeOf(house)
      const room = {
        unitTypeId: house.unitTypeId,
        ratePlanId: plans.get(house.propertyId),
        arrival: house.day(0),
        departure: house.day(random.between(1, 3)),
        adults: 2,
        childrenAges: [],
      }
      const booker = { firstName: 'Rui', lastName: 'Alves', email }
      const made = await client.command(
        random,
        'bookings.create',
        `${path}/bookings`,
        { key, body: { propertyId: house.propertyId, booker, rooms: [room] } },
        { bookingId: null, email },
      )
      return made && saysYes(made) ? { bookingId: String(made.body.id), email } : null
    },
  }

  const run = async (random: Random, kind: (typeof desks)[number], number: number) => {
    for (let guests = 0; !isOver; guests += 1) {
      const house = random.pick(houses)
      const booked = await comes[kind](random, house, `d${seed}-${number}-${guests}@guests.example`)
      if (booked) await serve(random, house, booked)
      await wait(random.between(300, 1_200))
    }
  }
  const running = Promise.all(desks.map((kind, number) => run(randomOf(seed, `desk ${number}`), kind, number)))
  return {
    moves: () => moves,
    stop: async () => {
      isOver = true
      await running
    },
  }
}
