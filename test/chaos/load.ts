import { setTimeout as wait } from 'node:timers/promises'
import type { ReceivedMail } from '../../scripts/services/mailbox.ts'
import type { House } from '../support/factories.ts'
import { insistentClient, saysYes } from './client.ts'
import { holdAsGuest } from './guest.ts'
import type { Guest } from './guest.ts'
import type { Ledger } from './ledger.ts'
import { sayAtDesk, sayByLink, sayByWord } from './no-sayers.ts'
import type { Door, Refusal } from './no-sayers.ts'
import { randomOf } from './random.ts'
import type { Random } from './random.ts'

type Options = {
  apis: readonly string[]
  houses: readonly House[]
  ledger: Ledger
  seed: number
  guests: number
  /** Lets the time of a hold be over. */
  outlive: (house: House, bookingId: string) => Promise<void>
  /** The ways in for what guests answer, by property. */
  inboxes: ReadonlyMap<string, Door>
  /** Every mail that has arrived. */
  mails: () => readonly ReceivedMail[]
}

/** Of the sandbox's cards, those whose behaviour is worth a fault. */
const tokens = {
  success: 50,
  decline: 4,
  action: 5,
  action_abandoned: 2,
  timeout_taken: 4,
  timeout_nothing: 2,
  error_replayed: 3,
  malformed: 3,
  duplicate_callback: 6,
  reordered_callback: 5,
  lost_callback: 4,
  refund_fails: 3,
  refund_returns: 3,
} as const
/** The token tells the sandbox the outcome of a Pix. */
const pixTokens = { success: 6, pix_unpaid: 2, pix_short: 1, duplicate_callback: 1 } as const
const ways = { pay: 70, expire: 8, release: 8, payLate: 6, payTwice: 8 } as const
/** Ways in which guests say that they want no more messages. */
const refusing = { mail: 3, sms: 3, whatsapp: 3, link: 3, click: 3, desk: 2 } as const
const underWay = ['pending', 'processing', 'action_required']

/** Guests who book, pay and cancel, and repeat what was not answered, until they are told to stop. */
export const startLoad = ({ apis, houses, ledger, seed, guests, outlive, inboxes, mails }: Options) => {
  let isOver = false
  const refusals: Refusal[] = []
  const client = insistentClient(apis, ledger)

  const refuse = (random: Random, door: Door, { email, phone }: Guest): Promise<Refusal | null> => {
    const way = random.weighted(refusing)
    switch (way) {
      case 'mail':
        return sayByWord(apis, door, 'email', email)
      case 'desk':
        return random.chance(0.5) ? sayAtDesk(apis, door, 'email', email) : sayAtDesk(apis, door, 'sms', phone)
      case 'link':
      case 'click':
        return sayByLink(apis, door, { email, mails, oneClick: way === 'click' })
      default:
        return sayByWord(apis, door, way, phone)
    }
  }

  const visit = async (random: Random, name: string, from: string) => {
    const house = random.pick(houses)
    const email = `${name}@guests.example`
    const guest = await holdAsGuest(client, random, apis, house, {
      arrival: random.between(12, 40),
      nights: random.between(1, 4),
      saver: random.chance(0.3),
      email,
      from,
    })
    if (!guest) return
    const way = random.weighted(ways)
    const amount = random.chance(0.3) ? ('all' as const) : ('due' as const)
    const pay = (method: 'card' | 'pix') =>
      guest.pay({ method, amount, cardToken: method === 'card' ? random.weighted(tokens) : random.weighted(pixTokens) })
    if (way === 'expire') return outlive(house, guest.bookingId)
    if (way === 'release') return void (await guest.cancel())
    const paid = await pay(random.chance(0.25) ? 'pix' : 'card')
    if (way === 'payTwice') await pay(random.chance(0.5) ? 'pix' : 'card')
    if (way === 'payLate') await outlive(house, guest.bookingId)
    if (!paid || !saysYes(paid)) return
    for (let looks = random.between(0, 12); looks > 0 && !isOver; looks -= 1) {
      await wait(500)
      const seen = await guest.payment(String(paid.body.paymentId))
      if (!seen || !underWay.includes(String(seen.body.status))) break
    }
    /** Money on its way is waited for: what is told of the end is what the refusal is about. */
    const leave = async () => {
      for (let tries = 0; tries < 10; tries += 1) {
        const reply = await guest.cancel()
        if (reply?.body.code !== 'payment_in_progress' || isOver) return
        await wait(1_000)
      }
    }
    const door = inboxes.get(house.propertyId)
    if (door && random.chance(0.5)) {
      const refusal = await refuse(random, door, guest)
      if (refusal) refusals.push(refusal)
      await wait(random.between(0, 2_000))
    }
    if (random.chance(0.6)) await leave()
  }

  const guestOf = async (number: number) => {
    const random = randomOf(seed, `guest ${number}`)
    // Each comes from an address of its own in 127.0.0.0/8: limits count by it.
    for (let visits = 0; !isOver; visits += 1) {
      const from = `127.${random.between(1, 250)}.${random.between(1, 250)}.${random.between(1, 250)}`
      await visit(random, `g${seed}-${number}-${visits}`, from)
      await wait(random.between(100, 900))
    }
  }
  const running = Promise.all(Array.from({ length: guests }, (_, number) => guestOf(number)))
  return {
    refusals,
    stop: async () => {
      isOver = true
      await running
    },
  }
}
