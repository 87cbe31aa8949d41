import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { makeKey } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useMailPeer } from '../support/messages.ts'
import { portalOf } from '../support/stay.ts'
import { startTwilioPeer } from '../support/twilio-peer.ts'
import type { TwilioPeer } from '../support/twilio-peer.ts'
import { useWorld } from '../support/world.ts'
import { flow } from '../webhooks/support.ts'
import type { Charge, Refund } from '../../workers/gateways/sandbox-plan.ts'
import { check, checks } from './checker.ts'
import { deskCommands } from './desk-commands.ts'
import { openAllDay, openDoors } from './desk.ts'
import { doctored } from './doctored.ts'
import type { Evidence } from './evidence.ts'
import { reconcileAll } from './heal.ts'
import type { GatewayDeed } from './gateway.ts'
import { openInboxes, sayAtDesk, sayByLink, sayByWord } from './no-sayers.ts'
import type { Door, Refusal } from './no-sayers.ts'
import { announceArrivals, launchTo, openReaders, textInVain } from './letters.ts'
import { openOffers } from './offers.ts'
import type { Command, DeskAction } from './ledger.ts'

class Undo extends Error {}

describe('the checker of a campaign', () => {
  const world = useWorld()
  const mail = useMailPeer()
  let house: House
  let evidence: Evidence
  const refusals: Refusal[] = []
  const unset = { ...settings.twilio }
  let carrier: TwilioPeer
  const mails = () =>
    mail.peer.mails.map((one) => {
      const [, value = ''] = /^List-Unsubscribe:\s*(\S+)/im.exec(one.source) ?? []
      const headers = value === '' ? [] : [{ name: 'List-Unsubscribe', value }]
      return { ...one, id: '', receivedAt: '', html: null, headers }
    })

  const command = async (action: Command['action'], requestId: string, reply: { status: number; body: object }) => {
    const body = reply.body as { id?: string; bookingId?: string; paymentId?: string }
    expect(reply.status, JSON.stringify(reply.body)).to.be.oneOf([200, 201])
    const subject =
      (action === 'public.createPayment' ? body.paymentId : action.startsWith('public.') ? body.bookingId : body.id) ??
      null
    return {
      requestId,
      action,
      key: randomUUID(),
      outcome: 'accepted' as const,
      status: reply.status,
      code: null,
      subject,
      bookingId: null,
      email: '',
      tries: 1,
      differing: 0,
    }
  }

  /** A guest who has paid is let in, moved, and let go before the day of departure. */
  const serve = async (
    bookingId: string,
    key: string,
    tell: (action: DeskAction, path: string, body: object) => Promise<unknown>,
  ) => {
    const at = `/api/tenants/${house.tenantId}`
    const { body } = await world.request('GET', `${at}/bookings/${bookingId}`, { key })
    const { id } = (body.reservations as { id: string }[])[0]!
    const act = (action: DeskAction, given: object) =>
      tell(action, `${at}/reservations/${id}/${deskCommands[action].verb}`, given)
    await act('reservations.checkIn', { unitId: house.unitIds[0] })
    await act('reservations.move', { unitId: house.unitIds[1], reason: 'noise' })
    await act('reservations.checkOut', { early: true, refund: 'automatic' })
  }

  /** Three guests book and pay; one cancels, one comes today, and a fourth books at the door: over the API, each command under a request id of its own. */
  const live = async (): Promise<Command[]> => {
    const { key } = await makeKey(house.tenantId, ['read', 'write'])
    const doors = await openInboxes([house], { keys: [{ tenantId: house.tenantId, key }] })
    await openOffers([house])
    const [door, apis] = [doors.get(house.propertyId)!, [world.baseUrl]]
    /** Each guest wants no more messages of some kind, before what comes next. */
    const refuse = {
      stays: (email: string) => sayAtDesk(apis, door, 'email', email),
      cancels: (email: string, phone: string) =>
        Promise.all([sayByWord(apis, door, 'email', email), sayByWord(apis, door, 'whatsapp', phone)]),
      comes: (email: string) => sayByLink(apis, door, { email, mails, oneClick: true }),
    }
    const portal = portalOf(world.request, house, key)
    const commands: Command[] = []
    const post = async (action: Command['action'], path: string, guest: string | undefined, body: object) => {
      const requestId = `chaos-${randomUUID()}`
      const reply = await world.request('POST', path, {
        ...(guest === undefined ? { key } : { guest }),
        body,
        headers: { 'x-request-id': requestId, 'x-client-ip': '198.51.100.7' },
      })
      commands.push(await command(action, requestId, reply))
      return reply.body
    }
    for (const [at, way] of (['stays', 'cancels', 'comes'] as const).entries()) {
      const { body: quote } = await portal.quote({ from: way === 'comes' ? 0 : 30 })
      const [email, phone] = [`${way}@guests.example`, `+551198765432${at}`]
      const booker = { firstName: 'Ana', lastName: 'Lima', email, phone }
      const { guestToken, bookingId } = await post(
        'public.reservations.hold',
        '/api/public/reservations/hold',
        undefined,
        {
          quote: quote.quote,
          booker,
          acceptedTerms: house.termsVersion,
          marketing: { email: true },
        },
      )
      const payment = { method: 'card', amount: way === 'comes' ? 'all' : 'due', cardToken: 'success' }
      await post('public.createPayment', '/api/public/payments/create', guestToken, payment)
      await world.drain()
      if (way === 'comes')
        await serve(String(bookingId), key, (action, path, given) => post(action, path, undefined, given))
      refusals.push(...[await refuse[way](email, phone)].flat().map((one) => one!))
      await world.drain()
      if (way === 'cancels') {
        await post('public.reservations.cancel', '/api/public/reservations/cancel', guestToken, {
          reason: 'changed_plans',
        })
      }
    }
    const made = await post('bookings.create', `/api/tenants/${house.tenantId}/bookings`, undefined, {
      propertyId: house.propertyId,
      booker: { firstName: 'Rui', lastName: 'Alves', email: 'rui@guests.example' },
      rooms: [
        {
          unitTypeId: house.unitTypeId,
          ratePlanId: (await openDoors([house])).get(house.propertyId),
          arrival: house.today,
          departure: house.day(1),
          adults: 2,
          childrenAges: [],
        },
      ],
    })
    await serve(String(made.id), key, (action, path, given) => post(action, path, undefined, given))
    await world.drain()
    await write(door, commands.findLast(({ action }) => action === 'public.reservations.hold')?.subject ?? '')
    return commands
  }

  /** A campaign whose readers did not all agree, a mail before each arrival, and a text of which nothing is heard. */
  const write = async (inbox: Door, bookingId: string) => {
    const opened = await openReaders(house, { apis: [world.baseUrl], inbox, tag: 'camp', many: 2 })
    refusals.push(...opened.refusals)
    await world.drain()
    await launchTo(house, 'camp')
    await announceArrivals(house, 'tomorrow')
    const id = await textInVain(house, bookingId)
    await world.drain()
    const { admin } = world.database
    await admin.raw(`update jobs set run_at = now() where kind = 'messages.fall-back' and payload->>'messageId' = ?`, [
      id,
    ])
    await world.drain()
  }

  before(async () => {
    settings.sandboxSecondMs = 20
    settings.publicBaseUrl = world.baseUrl
    carrier = await startTwilioPeer()
    const { accountSid, authToken, baseUrl } = carrier
    const [from, whatsappFrom] = ['+15005550006', '+15005550007']
    Object.assign(settings.twilio, { accountSid, authToken, baseUrl, from, whatsappFrom })
    const { admin } = world.database
    await admin.raw(`create table chaos_effect (key text not null)`)
    house = await makeHouse({ units: 3, ...openAllDay })
    const commands = await live()
    await reconcileAll(admin)
    await world.drain({ kinds: ['payments.import-balance', 'payments.reconcile'], aheadMs: 15_000 })
    await world.drain()
    await flow()
    const objects = await sql<{ kind: string; state: Charge & Refund }>(
      admin,
      `select kind, state from sandbox_object where kind in ('charge', 'refund')`,
    )
    const deeds = objects.map(({ kind, state }): GatewayDeed => {
      const { id, ourId, amount, currency, paidAt, charge: chargeId } = state
      return kind === 'charge'
        ? { deed: 'charged', id, ourId, amount, currency, paidAt }
        : { deed: 'refunded', id, ourId, charge: chargeId, amount, fails: false }
    })
    evidence = {
      deeds,
      mails: mails(),
      texts: carrier.texts.map((text) => ({ ...text, receivedAt: text.dateCreated.toISOString() })),
      commands,
      wrong: [],
      left: { effects: [], poisoned: [], missed: [] },
      hooks: [],
      removed: [],
      refusals,
    }
  })

  after(async () => {
    Object.assign(settings.twilio, unset)
    await carrier.stop()
  })

  it('finds nothing where nothing is wrong', async () => {
    expect(evidence.deeds.map((one) => one.deed).sort()).to.deep.equal([
      'charged',
      'charged',
      'charged',
      'refunded',
      'refunded',
    ])
    expect(evidence.mails).to.have.length.above(3)
    expect(evidence.texts).to.have.length.above(0)
    expect(refusals.map(({ kind, scope }) => `${kind} ${scope}`)).to.deep.equal([
      'email all',
      'email all',
      'whatsapp all',
      'email marketing',
      'email all',
    ])
    expect(await check(world.database.admin, evidence)).to.deep.equal([])
  })

  it('calls no job late that says running until the lock of its process is over', async () => {
    const at = async (seconds: number) => {
      let found: unknown[] | undefined
      await world.database.admin
        .transaction(async (trx: Knex) => {
          await trx.raw(
            `insert into jobs (id, queue, kind, payload, status, run_at, request_id, actor)
             values (gen_random_uuid(), 'maintenance', 'maintenance.chain-audit', '{}', 'running', now() - make_interval(secs => ?), 'r', '{}')`,
            [seconds],
          )
          found = await checks['no live job is past its horizon']?.(trx, evidence)
          throw new Undo()
        })
        .catch((error: unknown) => {
          if (!(error instanceof Undo)) throw error
        })
      return found
    }
    expect(await at(75)).to.deep.equal([])
    expect(await at(180)).to.have.length(1)
  })

  it('has a case below for each of its rules', () => {
    expect([...new Set(doctored.map((one) => one.rule))].sort()).to.deep.equal(Object.keys(checks).sort())
  })

  for (const { what, rule, statements = [], evidence: change = (given: Evidence) => given } of doctored)
    it(`finds that ${what}`, async () => {
      let found: unknown[] = []
      const attempt = world.database.admin.transaction(async (trx: Knex) => {
        await trx.raw(`set local session_replication_role = replica`)
        for (const statement of statements) await trx.raw(statement)
        found = (await checks[rule]?.(trx, change(evidence))) ?? []
        throw new Undo()
      })
      await attempt.catch((error: unknown) => {
        if (!(error instanceof Undo)) throw error
      })
      expect(found, rule).to.have.length.above(0)
    })
})
