import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { settings } from '../../config/env.ts'
import { standIn } from '../../config/outgoing-address.ts'
import { checksOf, closedGates, listGates, readHealth } from '../../db/jobs/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { sealCredentials } from '../../db/ocp/channel-accounts.ts'
import { closeMail } from '../../workers/providers/smtp.ts'
import { certificate, privateKey } from '../ocp/certificate.ts'
import { channelOf } from '../ocp/records.ts'
import {
  bring,
  chargesOf,
  creditOf,
  makeBooking,
  makeTill,
  pay,
  paymentOf,
  useProvider,
  work,
} from '../payment/support.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, messagesOf, useMailPeer } from '../support/messages.ts'
import { useTwilio } from '../support/twilio.ts'

describe('an account that refuses our credentials', function () {
  this.timeout(120_000)
  const world = useDatabase()
  const mail = useMailPeer()
  useProvider('stripe')
  const carrier = useTwilio()

  beforeEach(() => world.database.admin.raw('delete from jobs; delete from provider_gate'))

  /** Lets the time of closed gates pass, as often as it takes to see that no try is used up. */
  const passTime = () =>
    world.database.admin.raw(
      `update jobs set run_at = now() where (kind like 'payments.%' and kind <> 'payments.expire' or kind like 'messages.%') and status = 'pending';
       update provider_gate set closed_until = now() where state = 'closed'`,
    )
  const again = async (run: () => Promise<unknown>, times = 9) => {
    for (let n = 0; n < times; n += 1) {
      await run()
      await passTime()
    }
  }

  /** This gate alone is closed, and overview, readiness with its reasons, the gauge with its alert, and the metric of gates say so. */
  const isNamed = async (gate: string, provider: string) => {
    const gates = await inPlatform((trx) => listGates(trx))
    expect(gates.filter(({ state }) => state === 'closed').map((one) => [one.gate, one.reason])).to.deep.equal([
      [gate, 'credentials_refused'],
    ])
    const checks = checksOf(await inPlatform(readHealth), { isConnected: true, memoryShare: null })
    const check = (name: string) => checks.find((one) => one.name === name)
    expect(check('credentials')).to.include({ ok: false })
    expect(check('credentials')?.detail).to.include(gate)
    expect(check('accounts')).to.include({ ok: true })
    expect((await inPlatform(closedGates)).filter(({ credentials }) => credentials > 0)).to.deep.equal([
      { provider, outage: 0, credentials: 1 },
    ])
  }
  const isWellAgain = async (gate: string) => {
    const gates = await inPlatform((trx) => listGates(trx))
    expect(gates.find((one) => one.gate === gate)).to.include({ state: 'open', reason: null, failures: 0 })
    const checks = checksOf(await inPlatform(readHealth), { isConnected: true, memoryShare: null })
    expect(checks.find(({ name }) => name === 'credentials')).to.include({ ok: true })
  }

  it('at Stripe holds up its own payments alone; once they are right each is charged once', async () => {
    const till = await makeTill(undefined, 'stripe')
    const other = await makeTill(undefined, 'stripe')
    const { stripe } = till
    if (!stripe) throw new Error('the peer is there')
    const [account] = await sql<{ externalId: string }>(
      world.database.admin,
      `select external_id from gateway_account where id = ?`,
      [till.accountId],
    )
    stripe.faultOf = account?.externalId ?? ''
    stripe.fault = 'no_key'
    try {
      const bookings = [await makeBooking(till), await makeBooking(till)]
      const first = await pay(till, bookings[0] ?? '')
      const elsewhere = await pay(other, await makeBooking(other))
      await again(work)
      await bring(other, elsewhere.id, 'captured')
      expect((await paymentOf(till, first.id)).status).to.equal('created')
      const gate = `stripe:${till.accountId}`
      await isNamed(gate, 'stripe')
      const second = await pay(till, bookings[1] ?? '')
      stripe.fault = 'none'
      await passTime()
      for (const [n, { id }] of [first, second].entries()) {
        await bring(till, id, 'captured')
        expect(await chargesOf(till, id)).to.have.length(1)
        expect(await creditOf(till, bookings[n] ?? '')).to.equal(20_000)
      }
      await isWellAgain(gate)
    } finally {
      stripe.fault = 'none'
      stripe.faultOf = null
    }
  })

  const ownAccount = (house: House, id: string, credentials: object, address: string | null = null) =>
    house.inHouse(async (trx) =>
      sql(
        trx,
        `update message_channel set transport = 'own', enabled = true, credentials = ?, sender_address = coalesce(?, sender_address),
           verification = '{"status": "verified"}' where id = ?`,
        [await sealCredentials(trx, id, credentials), address, id],
      ),
    )
  const write = (house: House, channel: 'sms' | 'email') =>
    house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana', email: 'ana@example.com', phone: '+5524999990000' },
        plan: [{ channel, waitMinutes: 30 }],
      }),
    )
  const statusOf = async (house: House) => (await messagesOf(house)).map(({ status }) => status)

  it('of a tenant at Twilio holds up its own texts alone; once they are right each goes once', async () => {
    const house = await makeHouse({ deposit: null })
    const other = await makeHouse({ deposit: null })
    await other.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
    const id = await channelOf(house, 'sms')
    const { accountSid, authToken } = carrier.peer
    const from = '+15005550006'
    await ownAccount(house, id, { accountSid, authToken: 'ended', from })
    await write(house, 'sms')
    await write(other, 'sms')
    await again(deliverAll)
    expect(carrier.peer.texts).to.have.length(1)
    expect([await statusOf(house), await statusOf(other)]).to.deep.equal([['queued'], ['sent']])
    await isNamed(`twilio:${id}`, 'twilio')
    await ownAccount(house, id, { accountSid, authToken, from })
    await passTime()
    await deliverAll()
    await deliverAll()
    expect(carrier.peer.texts).to.have.length(2)
    expect((await attemptsOf(house)).filter(({ status }) => status === 'sent')).to.have.length(1)
    await isWellAgain(`twilio:${id}`)
  })

  it('of a tenant’s mail server, or of the service’s, holds up its own mails alone; once they are right each goes once', async () => {
    let password = 'changed'
    let taken = 0
    const server = new SMTPServer({
      key: privateKey,
      cert: certificate,
      authMethods: ['PLAIN', 'LOGIN'],
      onAuth: (given, _, done) =>
        given.password === password ? done(null, { user: given.username }) : done(new Error('Invalid login')),
      onData: (stream, _, done) => {
        stream.resume()
        stream.on('end', () => {
          taken += 1
          done()
        })
      },
    })
    server.on('error', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const takeBack = standIn({ host: 'mail.example', port: (server.server.address() as AddressInfo).port })
    const caBefore = settings.smtpCa
    settings.smtpCa = certificate
    try {
      const house = await makeHouse({ deposit: null })
      const other = await makeHouse({ deposit: null })
      const id = await channelOf(house, 'email')
      const credentials = { host: 'mail.example', port: 587, user: 'sol', password: 'right' }
      await ownAccount(house, id, credentials, 'hello@sol.example')
      await write(house, 'email')
      await write(other, 'email')
      await again(deliverAll)
      expect([await statusOf(house), await statusOf(other), taken]).to.deep.equal([['queued'], ['sent'], 0])
      await isNamed(`smtp:${id}`, 'smtp')
      password = 'right'
      await passTime()
      await deliverAll()
      await deliverAll()
      expect([await statusOf(house), taken, mail.peer.mails.length]).to.deep.equal([['sent'], 1, 1])
      await isWellAgain(`smtp:${id}`)

      mail.peer.behave('530 login')
      await write(house, 'email')
      await write(other, 'email')
      await again(deliverAll)
      expect([(await statusOf(house)).at(-1), (await statusOf(other)).at(-1), taken]).to.deep.equal([
        'sent',
        'queued',
        2,
      ])
      await isNamed('smtp', 'smtp')
      mail.peer.behave('accept')
      await passTime()
      await deliverAll()
      expect([(await statusOf(other)).at(-1), mail.peer.mails.length]).to.deep.equal(['sent', 2])
      await isWellAgain('smtp')
    } finally {
      settings.smtpCa = caBefore
      closeMail()
      takeBack()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  })
})
