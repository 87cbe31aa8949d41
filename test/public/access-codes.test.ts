import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { guestAccessCode } from '../../config/derived-secrets.ts'
import { approveRequest, createGuest, mergeGuests, registerRequest, updateGuest } from '../../db/guests/index.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { unseal } from '../../db/lib/sealing/index.ts'
import { recipientPlace } from '../../db/ocp/queue.ts'
import { isGuestTokenLive, sendAccessCode, useAccessCode } from '../../db/reservations/access.ts'
import { cancelReservations, confirmBooking } from '../../db/reservations/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold, readBooking } from '../support/stay.ts'

describe('Codes that let a booker back in', () => {
  const held = useDatabase()
  const email = 'back@example.com'
  let house: House
  let bookingId: string
  let number: string

  beforeEach(async () => {
    house = await makeHouse({ units: 1 })
    bookingId = await makeHold(house, { email })
    number = (await readBooking(house, bookingId)).number
  })

  const sendFrom = (client: string, of = number) =>
    house.inHouse((trx) => sendAccessCode(trx, { propertyId: house.propertyId, number: of, email, client }))
  const send = () => sendFrom('127.0.0.1')
  const open = (code: string) =>
    house.inHouse((trx) => useAccessCode(trx, { propertyId: house.propertyId, number, code }))
  const sent = () =>
    house.inHouse((trx) =>
      sql<{ id: string; isLive: boolean }>(
        trx,
        `select id, ended_at is null as is_live from guest_access_code where booking_id = ? order by ended_at nulls last`,
        [bookingId],
      ),
    )

  it('end with the fifth wrong try', async () => {
    await send()
    const [row] = await sent()
    const code = guestAccessCode(row?.id ?? '')
    const wrong = code === '123456' ? '654321' : '123456'
    const tries = await Promise.all(Array.from({ length: 5 }, () => open(wrong)))
    expect(tries).to.deep.equal([null, null, null, null, null])
    expect(await open(code)).to.equal(null)
  })

  it('are three an hour, however many are asked for at once, and each ends the one before', async () => {
    await Promise.all(Array.from({ length: 6 }, send))
    const codes = await sent()
    expect(codes.map((one) => one.isLive)).to.deep.equal([false, false, true])
    const opened: (string | null)[] = []
    for (const { id } of codes) opened.push(await open(guestAccessCode(id)))
    expect(opened).to.deep.equal([null, null, bookingId])
    await held.database.admin.raw(`update guest_access_code set created_at = created_at - interval '61 minutes'`)
    await send()
    expect(await sent()).to.have.length(4)
  })

  describe('of a booker whose address was corrected since', () => {
    const asFor = (typed: string) =>
      house.inHouse((trx) =>
        sendAccessCode(trx, { propertyId: house.propertyId, number, email: typed, client: '127.0.0.1' }),
      )
    /** Addresses that codes went to. */
    const recipients = () =>
      house.inHouse(async (trx) => {
        const rows = await sql<{ id: string; recipient: Buffer }>(
          trx,
          `select id, recipient from message where dedupe_key like 'code-%' order by created_at, id`,
        )
        return Promise.all(
          rows.map(async ({ id, recipient }) => {
            const { email: address } = await unseal<{ email: string }>(trx, 'tenant', recipientPlace(id), recipient)
            return address
          }),
        )
      })
    const booker = () =>
      house.inHouse(async (trx) => {
        await confirmBooking(trx, bookingId)
        const row = await sqlOne<{ id: string }>(trx, `select booker_guest_id as id from booking where id = ?`, [
          bookingId,
        ])
        return row?.id ?? ''
      })

    beforeEach(async () => {
      house = await makeHouse({ units: 1, deposit: null })
      bookingId = await makeHold(house, { email })
      number = (await readBooking(house, bookingId)).number
    })

    const minuteAgo = () => new Date(Date.now() - 60_000)
    const isLive = (of = bookingId) => house.inHouse((trx) => isGuestTokenLive(trx, of, minuteAgo()))
    const change = (guestId: string, to: string) => house.inHouse((trx) => updateGuest(trx, guestId, { email: to }))

    it('go to the new address, and tokens of the former end', async () => {
      const guestId = await booker()
      await change(guestId, email)
      expect(await isLive(), 'it is the one that it was').to.equal(true)
      await change(guestId, 'corrected@example.com')
      expect(await isLive()).to.equal(false)
      await asFor('stranger@example.com')
      await asFor(email)
      expect(await recipients()).to.deep.equal([])
      await asFor('Corrected@example.com')
      expect(await recipients()).to.deep.equal(['corrected@example.com'])
    })

    it('go to the new address that a privacy request has corrected, of stays that stand', async () => {
      const guestId = await booker()
      const id = await house.inHouse((trx) =>
        registerRequest(trx, {
          guestId,
          kind: 'correction',
          channel: 'email',
          correction: { email: 'corrected@example.com' },
        }),
      )
      await house.inHouse((trx) => approveRequest(trx, id, { identityMethod: 'document' }))
      expect(await isLive()).to.equal(false)
      await house.inHouse((trx) => cancelReservations(trx, bookingId, { reason: 'changed_plans' }))
      const { guestTokensValidFrom } = await readBooking(house, bookingId)
      await change(guestId, 'again@example.com')
      expect((await readBooking(house, bookingId)).guestTokensValidFrom).to.deep.equal(guestTokensValidFrom)
      await asFor('again@example.com')
      expect(await recipients()).to.deep.equal(['again@example.com'])
    })

    it('go to the address of the profile that stands for theirs', async () => {
      const guestId = await booker()
      const survivor = await house.inHouse((trx) =>
        createGuest(trx, { firstName: 'Ana', email: 'survivor@example.com', source: 'staff' }),
      )
      await house.inHouse((trx) => mergeGuests(trx, survivor, { mergedGuestId: guestId, reason: 'One person' }))
      await asFor('survivor@example.com')
      expect(await recipients()).to.deep.equal(['survivor@example.com'])
    })
  })

  it('are ten an hour for one client, whatever bookings they are of', async () => {
    const own = await makeHouse({ units: 6, deposit: null })
    house = own
    const numbers: string[] = []
    for (let made = 0; made < 6; made += 1) {
      const address = randomUUID()
      const id = await makeHold(own, { email, address, from: 3 + made, nights: 1 })
      await own.inHouse((trx) => confirmBooking(trx, id))
      numbers.push((await readBooking(own, id)).number)
    }
    const codes = async () =>
      (await own.inHouse((trx) => sqlOne<{ count: number }>(trx, `select count(*) from guest_access_code`)))?.count
    for (const of of [...numbers, ...numbers, ...numbers]) await sendFrom('192.0.2.1', of)
    expect(await codes()).to.equal(10)
    await sendFrom('192.0.2.2', numbers[5])
    expect(await codes()).to.equal(11)
  })
})
