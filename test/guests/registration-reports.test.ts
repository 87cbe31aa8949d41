import { expect } from 'chai'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { checkIn } from '../../db/reservations/check-in.ts'
import { checkOut } from '../../db/reservations/check-out.ts'
import { reinstate } from '../../db/reservations/reinstate.ts'
import { revertCheckIn, revertCheckOut } from '../../db/reservations/revert.ts'
import { forgetLimits } from '../auth/support.ts'
import { startAuthority } from '../support/authority-peer.ts'
import { drain } from '../support/drain.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { cancelStays } from './privacy-support.ts'
import { newCpf, png, useGuests } from './support.ts'

const secret = 'a secret that both sides know'

describe('Forms that are reported', () => {
  const world = useWorld()
  const desk = useGuests(world, {
    settings: { registration: { mode: 'warn' }, frontDesk: { conditions: ['dirty', 'clean', 'inspected'] } },
  })
  const { call, rows } = desk
  let authority: Awaited<ReturnType<typeof startAuthority>>
  const settle = (change: object) =>
    call('PATCH', `properties/${desk.house.propertyId}/settings`, { registration: change }, { role: 'owner' })

  before(async () => {
    authority = await startAuthority(secret)
    const set = await settle({ authority: 'open', endpointUrl: 'https://authority.example/v1', credentials: secret })
    expect(set.status, JSON.stringify(set.body)).to.equal(200)
    expect(JSON.stringify(set.body)).to.not.contain(secret)
  })
  after(() => authority.stop())
  beforeEach(async () => {
    await forgetLimits(world)
    authority.mood = 'accepts'
    authority.heard.splice(0)
  })

  const book = async (from: number) => {
    const bookingId = await makeHold(desk.house, {
      from,
      nights: 1,
      words: { booker: { firstName: 'Rosa', lastName: 'Lins', email: 'rosa@example.com' } },
    })
    await desk.house.inHouse((trx) => confirmBooking(trx, bookingId))
    const [stay] = await rows<{ id: string }>(`select id from reservation where booking_id = ?`, [bookingId])
    const reservationId = stay?.id ?? ''
    const { body } = await call('GET', `guest-registrations?reservationId=${reservationId}`)
    return { bookingId, reservationId, formId: (body.data[0] as { id: string }).id }
  }
  const whole = () => ({
    document: { kind: 'cpf', countryCode: 'BR', number: newCpf() },
    birthDate: '1988-08-08',
    nationality: 'BR',
    residence: { city: 'Natal', countryCode: 'BR' },
    occupation: 'Painter',
    reason: 'leisure',
    transport: 'car',
  })
  const complete = (formId: string, form: object = whole()) =>
    call('PATCH', `guest-registrations/${formId}`, { form, signed: { on: 'tablet', name: 'Rosa Lins', image: png } })
  const read = async (formId: string) => (await call('GET', `guest-registrations/${formId}`)).body
  const work = () => drain({ kinds: ['channels.report-registration'] })

  it('ask what the authority asks of this person, and say so as JSON Schema', async () => {
    const { formId } = await book(20)
    expect((await read(formId)).missing)
      .to.include.members(['occupation', 'reason', 'transport'])
      .and.not.include('from')
    const foreign = await call('PATCH', `guest-registrations/${formId}`, {
      form: { nationality: 'FR', birthDate: '1990-01-01' },
    })
    expect(foreign.body.missing).to.include.members(['from', 'to', 'occupation'])
    const child = await call('PATCH', `guest-registrations/${formId}`, {
      form: { nationality: 'BR', birthDate: '2020-01-01' },
    })
    expect(child.body.missing).to.not.include('occupation').and.not.include('from')
    expect(child.body.fields.required).to.include('reason')
    expect(child.body.fields.properties).to.include.keys('name', 'transport')
  })

  it('are reported once they are complete, then with check-in and check-out, in this order', async () => {
    const { formId, reservationId } = await book(0)
    const early = await call('POST', `guest-registrations/${formId}/submit`, {})
    expect([early.status, early.body.code]).to.deep.equal([422, 'registration_incomplete'])
    await desk.house.inHouse((trx) =>
      checkIn(trx, reservationId, { override: { rules: ['early_check_in'], reason: 'a test' } }),
    )
    await desk.house.inHouse((trx) =>
      checkOut(trx, reservationId, { early: true, override: { rules: ['balance'], reason: 'a test' } }),
    )
    expect(await work()).to.deep.equal([])
    const ready = await complete(formId)
    expect(ready.body, JSON.stringify(ready.body)).to.deep.include({ status: 'ready', hasSignatureImage: true })
    await work()
    expect(authority.heard.map(({ path }) => path)).to.deep.equal([
      '/v1/registrations',
      '/v1/check-ins',
      '/v1/check-outs',
    ])
    expect(authority.heard[0]?.body.form).to.deep.include({ name: 'Rosa Lins', occupation: 'Painter' })
    const form = await read(formId)
    expect(form.status).to.equal('accepted')
    expect(authority.heard[1]?.body.registrationId).to.equal(form.externalId)
    expect(form.reports.map((one: { kind: string; status: string }) => `${one.kind} ${one.status}`)).to.deep.equal([
      'check_in accepted',
      'check_out accepted',
      'registration accepted',
    ])
    // Again: nothing is told twice.
    expect((await call('POST', `guest-registrations/${formId}/submit`, {})).body.status).to.equal('accepted')
    await work()
    expect(authority.heard).to.have.length(3)
  })

  it('are corrected when a check-in or check-out is taken back, and told of the next one', async () => {
    const { formId, reservationId } = await book(0)
    await complete(formId)
    const inHouse = desk.house.inHouse
    const enter = () =>
      inHouse((trx) =>
        checkIn(trx, reservationId, {
          override: { rules: ['early_check_in', 'unit_condition', 'deposit'], reason: 'a test' },
        }),
      )
    const heard = async () => {
      await work()
      return authority.heard.splice(0).map(({ path }) => path.replace('/v1/', ''))
    }
    await enter()
    expect(await heard()).to.deep.equal(['registrations', 'check-ins'])
    await inHouse((trx) => revertCheckIn(trx, reservationId, { reason: 'the wrong guest' }))
    expect(await heard()).to.deep.equal(['registrations'])
    await enter()
    await inHouse((trx) => revertCheckIn(trx, reservationId, { reason: 'the wrong guest' }))
    expect(await heard()).to.deep.equal([])
    await enter()
    expect(await heard()).to.deep.equal(['check-ins'])
    await inHouse((trx) =>
      checkOut(trx, reservationId, { early: true, override: { rules: ['balance'], reason: 'a test' } }),
    )
    expect(await heard()).to.deep.equal(['check-outs'])
    await inHouse((trx) => revertCheckOut(trx, reservationId, { reason: 'still here' }))
    expect(await heard()).to.deep.equal(['registrations'])
    expect(await read(formId)).to.include({ status: 'accepted' })
  })

  it('are told once where the answer was lost, under the same id', async () => {
    const { formId } = await book(21)
    await complete(formId)
    authority.mood = 'forgets_once'
    await work()
    expect(await read(formId)).to.include({ status: 'accepted' })
    expect(authority.heard).to.have.length(2)
    expect(authority.heard[0]?.key).to.equal(authority.heard[1]?.key)
    expect((await read(formId)).externalId).to.equal(`A-${authority.answers.size}`)
    const next = await book(26)
    await complete(next.formId)
    authority.mood = 'fails_once'
    await work()
    expect(await read(next.formId)).to.include({ status: 'accepted' })
  })

  it('are corrected and reported anew where the authority refuses them', async () => {
    const { formId } = await book(22)
    await complete(formId)
    authority.mood = 'rejects'
    await work()
    expect(await read(formId)).to.deep.include({ status: 'rejected', rejectReason: 'the document is not known' })
    authority.mood = 'accepts'
    const again = await call('POST', `guest-registrations/${formId}/submit`, {})
    expect(again.body).to.include({ status: 'submitted', formVersion: 2 })
    await work()
    expect((await read(formId)).status).to.equal('accepted')
    // A correction of what was accepted goes out as the next version.
    await complete(formId, { occupation: 'Sculptor' })
    await work()
    expect(authority.heard.at(-1)?.body.form).to.include({ occupation: 'Sculptor' })
    expect(await read(formId)).to.include({ status: 'accepted', formVersion: 3 })
  })

  it('are taken back with their stay, where the authority has accepted them', async () => {
    const { formId, bookingId } = await book(23)
    await complete(formId)
    await work()
    const { externalId } = await read(formId)
    await cancelStays(desk.house, bookingId)
    await work()
    expect(authority.heard.at(-1)).to.deep.include({ path: '/v1/cancellations' })
    expect(authority.heard.at(-1)?.body.registrationId).to.equal(externalId)
    const unheard = await book(24)
    await cancelStays(desk.house, unheard.bookingId)
    expect(await work()).to.deep.equal([])
    expect((await call('POST', `guest-registrations/${unheard.formId}/submit`, {})).body.code).to.equal(
      'invalid_transition',
    )
  })

  it('are reported anew with a stay that comes back, and stand where the authority has not heard that it was cancelled', async () => {
    const { formId, bookingId, reservationId } = await book(26)
    const back = () => desk.house.inHouse((trx) => reinstate(trx, reservationId, { reason: 'comes after all' }))
    await complete(formId)
    await work()
    const first = await read(formId)
    await cancelStays(desk.house, bookingId)
    await back()
    await work()
    expect(await read(formId)).to.include({ status: 'accepted', externalId: first.externalId })
    expect(authority.heard).to.have.lengthOf(1)
    await cancelStays(desk.house, bookingId)
    await work()
    await back()
    await work()
    const second = await read(formId)
    expect(second.status).to.equal('accepted')
    expect(second.externalId).to.not.equal(first.externalId)
    expect(authority.heard.map(({ path }) => path.split('/').at(-1))).to.deep.equal([
      'registrations',
      'cancellations',
      'registrations',
    ])
    await cancelStays(desk.house, bookingId)
    await work()
    expect(authority.heard.at(-1)?.body.registrationId).to.equal(second.externalId)
  })

  it('need an address and a secret of the authority', async () => {
    const none = await settle({ credentials: null })
    expect([none.status, none.body.errors?.[0].field]).to.deep.equal([400, 'registration.credentials'])
    expect((await settle({ endpointUrl: null })).body.errors?.[0].field).to.equal('registration.endpointUrl')
    await settle({ authority: 'none' })
    const { formId } = await book(25)
    await complete(formId)
    expect((await call('POST', `guest-registrations/${formId}/submit`, {})).body.code).to.equal('authority_not_set')
    await settle({ authority: 'open' })
  })
})
