import { expect } from 'chai'
import { todayIn } from '../../config/time.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { renewRetentionKey } from '../../db/lib/sealing/index.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { keepLimits } from '../../jobs/guests.ts'
import { forgetLimits } from '../auth/support.ts'
import { timeZone } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { cancelStays } from './privacy-support.ts'
import { newCpf, png, useGuests } from './support.ts'

describe('Registration forms', () => {
  const world = useWorld()
  const desk = useGuests(world, {
    settings: { registration: { mode: 'strict' }, frontDesk: { conditions: ['dirty', 'clean', 'inspected'] } },
  })
  const { call, create, rows } = desk
  beforeEach(() => forgetLimits(world))

  const book = async (from: number, adults = 1) => {
    const bookingId = await makeHold(desk.house, {
      from,
      nights: 1,
      words: { booker: { firstName: 'Rosa', lastName: 'Lins', email: 'rosa@example.com' } },
    })
    await desk.house.inHouse((trx) => confirmBooking(trx, bookingId))
    await rows(`update reservation set adults = ? where booking_id = ?`, [adults, bookingId])
    const [stay] = await rows<{ id: string }>(`select id from reservation where booking_id = ?`, [bookingId])
    const { body } = await call('GET', `guest-registrations?reservationId=${stay?.id ?? ''}`)
    return {
      bookingId,
      reservationId: stay?.id ?? '',
      form: body.data[0] as { id: string; status: string; guestId: string },
    }
  }
  const document = () => ({ kind: 'cpf', countryCode: 'BR', number: newCpf() })
  const whole = () => ({
    document: document(),
    birthDate: '1988-08-08',
    nationality: 'BR',
    residence: { city: 'Natal', countryCode: 'BR' },
  })

  it('open with the confirmation, are filled in from the profile, and complete it without overwriting', async () => {
    const { form } = await book(10)
    expect(form).to.include({ status: 'pending' })
    const { body } = await call('GET', `guest-registrations/${form.id}`)
    expect(body).to.deep.include({
      form: { name: 'Rosa Lins' },
      missing: ['document', 'birthDate', 'nationality', 'residence'],
    })
    await call('PATCH', `guests/${form.guestId}`, { nationality: 'PT' })
    const half = await call('PATCH', `guest-registrations/${form.id}`, { form: whole() })
    expect(half.body).to.deep.include({
      status: 'pending',
      missing: [],
      masked: ['birthDate', 'document'],
      signedName: null,
    })
    // An id may have these digits, too.
    expect(JSON.stringify(half.body)).to.not.match(/(?<![\da-f-])1988(?![\da-f])/)
    const signed = await call('PATCH', `guest-registrations/${form.id}`, { signed: { on: 'paper', name: 'Rosa Lins' } })
    expect(signed.body).to.deep.include({ status: 'ready', signedVia: 'paper', signedName: 'Rosa Lins' })
    const guest = await call('GET', `guests/${form.guestId}`)
    expect(guest.body).to.deep.include({
      nationality: 'PT',
      residenceCountry: 'BR',
      address: { city: 'Natal', countryCode: 'BR' },
    })
    expect(guest.body.age).to.be.a('number')
    const stored = await rows<{ text: string }>(
      `select encode(sealed, 'escape') as text from guest_registration where id = ?`,
      [form.id],
    )
    expect(stored[0]?.text).to.not.contain('Natal')
    const corrected = await call('PATCH', `guest-registrations/${form.id}`, { form: { occupation: 'Painter' } })
    expect(corrected.body).to.deep.include({ status: 'ready', formVersion: 2 })
    const told = await rows<{ type: string }>(
      `select type from event where type = 'guest_registration.completed' and entity ->> 'id' = ?`,
      [form.id],
    )
    expect(told).to.have.length(1)
  })

  it('refuse documents that cannot be, and birth dates to come', async () => {
    const { form } = await book(11)
    const cpf = await call('PATCH', `guest-registrations/${form.id}`, {
      form: { document: { kind: 'cpf', countryCode: 'BR', number: '1' } },
    })
    expect(cpf.body.code).to.equal('document_invalid')
    const unborn = await call('PATCH', `guest-registrations/${form.id}`, { form: { birthDate: '2190-01-01' } })
    expect(unborn.body.errors[0].field).to.equal('form.birthDate')
  })

  it('end with their stay, and do not change any more', async () => {
    const { form, bookingId } = await book(60)
    await cancelStays(desk.house, bookingId)
    const { body } = await call('GET', `guest-registrations/${form.id}`)
    expect(body.status).to.equal('cancelled')
    expect((await call('PATCH', `guest-registrations/${form.id}`, { form: {} })).body.code).to.equal(
      'invalid_transition',
    )
  })

  it('keep a guest from checking in where the house is strict, warn where it warns, and are none of its business where it is off', async () => {
    const { reservationId, form } = await book(0, 2)
    const preview = async () => {
      const { planCheckIn } = await import('../../db/reservations/rules/plans.ts')
      const { readFacts } = await import('../../db/reservations/facts.ts')
      const { readProperty } = await import('../../db/properties/index.ts')
      return desk.house.inHouse(async (trx) => {
        const property = await readProperty(trx, desk.house.propertyId)
        if (!property) throw new Error('no property')
        const [facts] = await readFacts(trx, property, [reservationId])
        if (!facts) throw new Error('no stay')
        const plan = planCheckIn({ facts, property, businessDate: desk.house.today })
        const about = (list: { code: string; message: string }[]) =>
          list.filter((one) => one.code === 'registration_incomplete').map((one) => one.message)
        return { blockers: about(plan.blockers), warnings: about(plan.warnings) }
      })
    }
    const mode = (value: string) =>
      desk.house.inHouse((trx) =>
        sql(trx, `update property set settings = jsonb_set(settings, '{registration,mode}', to_jsonb(?::text))`, [
          value,
        ]),
      )
    expect(await preview()).to.deep.equal({ blockers: ['2 of the party lack a registration form'], warnings: [] })
    await call('PATCH', `guest-registrations/${form.id}`, { form: whole(), signed: { on: 'tablet', name: 'Rosa' } })
    // A companion who is not named is missing, too.
    expect((await preview()).blockers).to.deep.equal(['1 of the party lack a registration form'])
    await mode('warn')
    expect(await preview()).to.deep.equal({ blockers: [], warnings: ['1 of the party lack a registration form'] })
    await mode('off')
    expect(await preview()).to.deep.equal({ blockers: [], warnings: [] })
    await mode('strict')
  })

  it('let no minor in without an adult who answers or an authorisation, whatever is set aside, but where the house keeps none', async () => {
    const { reservationId } = await book(0, 2)
    const mode = (value: string) =>
      rows(`update property set settings = jsonb_set(settings, '{registration,mode}', to_jsonb(?::text))`, [value])
    const child = { firstName: 'Bia', birthDate: `${Number(desk.house.today.slice(0, 4)) - 8}-01-01` }
    const named = await call('POST', `reservations/${reservationId}/guests`, child)
    expect(named.status, JSON.stringify(named.body)).to.equal(201)
    type Named = { id: string; age: number | null; role: string }
    const { guests } = (await call('GET', `reservations/${reservationId}`)).body as { guests: Named[] }
    const [adult, minor] = [guests.find((one) => one.role === 'primary'), guests.find((one) => one.age === 8)]
    const minors = async () => {
      const { commands } = (await call('GET', `reservations/${reservationId}/transitions`)).body
      const { blockers } = commands.find((one: { id: string }) => one.id === 'T13')
      return (blockers as { code: string; waivable: boolean }[]).filter((one) => one.code.startsWith('minor'))
    }
    const override = { rules: ['registration', 'early_check_in', 'unit_condition'], reason: 'The parents come later' }
    const enter = () => call('POST', `reservations/${reservationId}/check-in`, { override }, { role: 'owner' })
    for (const value of ['warn', 'strict']) {
      await mode(value)
      expect((await minors()).map(({ code, waivable }) => [code, waivable])).to.deep.equal([
        ['minor_documents_missing', false],
      ])
      const refused = await enter()
      expect(refused.status).to.equal(422)
      expect(refused.body.errors.map((one: { field: string }) => one.field)).to.deep.equal([
        'blockers.minor_documents_missing',
      ])
    }
    await mode('off')
    expect(await minors()).to.deep.equal([])
    await mode('strict')
    await call('PATCH', `reservations/${reservationId}/guests/${minor?.id}`, {
      responsibleId: adult?.id,
      kinship: 'mother',
    })
    expect(await minors()).to.deep.equal([])
    expect((await enter()).status).to.equal(200)
  })

  it('stay readable after an erasure until the law needs them no more, and are then unreadable', async () => {
    const { form } = await book(61)
    await call('PATCH', `guest-registrations/${form.id}`, { form: whole(), signed: { on: 'paper', name: 'Rosa' } })
    const { destroyGuestKey } = await import('../../db/lib/sealing/index.ts')
    await desk.house.inHouse((trx) => destroyGuestKey(trx, form.guestId, 'profile'))
    expect((await call('GET', `guest-registrations/${form.id}`)).body.form.residence).to.deep.equal({
      city: 'Natal',
      countryCode: 'BR',
    })
    await desk.house.inHouse((trx) => destroyGuestKey(trx, form.guestId, 'retention'))
    expect((await call('GET', `guest-registrations/${form.id}`)).body.form).to.not.have.property('document')
  })

  it('are in the export that their guest asks for, and images of documents say how long they are kept', async () => {
    const { form } = await book(64)
    await call('PATCH', `guest-registrations/${form.id}`, { form: whole(), signed: { on: 'paper', name: 'Rosa Lins' } })
    const owner = { role: 'owner' }
    const asked = { guestId: form.guestId, kind: 'access', channel: 'email' }
    const { body: request } = await call('POST', 'privacy-requests', asked, owner)
    await call('POST', `privacy-requests/${request.id}/approve`, { identityMethod: 'document' }, owner)
    await world.drain()
    const { body: got } = await call('GET', `privacy-requests/${request.id}/export`, undefined, owner)
    expect(got.registrations[0]).to.deep.include({ status: 'ready', signedName: 'Rosa Lins' })
    expect(got.registrations[0].form).to.deep.include({ birthDate: '1988-08-08', residence: whole().residence })

    const alone = await create({ documents: [document()] })
    const images = async (guestId: string) =>
      (await call('GET', `guests/${guestId}`)).body.documents.flatMap((one: { files: object[] }) => one.files)
    await call('POST', `guests/${form.guestId}/documents`, { kind: 'rg', countryCode: 'BR', number: 'IMG 1' })
    for (const guestId of [alone, form.guestId]) {
      const { body } = await call('GET', `guests/${guestId}`)
      const path = `guests/${guestId}/documents/${body.documents[0].id}/files/front`
      expect((await call('PUT', path, { mediaType: 'image/png', data: png })).status).to.equal(200)
    }
    const stored = (days: number) =>
      rows(
        `update guest_document_file set created_at = ((now() at time zone o.time_zone)::date - ?::int + time '01:00') at time zone o.time_zone from tenant o`,
        [days],
      )
    const keep = async () => {
      await inPlatform((trx) => enqueue(trx, keepLimits, {}))
      await world.drain()
    }
    await stored(30)
    await keep()
    expect((await images(alone)).map((one: { deleteAfter: string }) => one.deleteAfter)).to.deep.equal([
      todayIn(timeZone),
    ])
    expect((await images(form.guestId)).map((one: { deleteAfter: string }) => one.deleteAfter)).to.deep.equal([null])
    await stored(31)
    await keep()
    expect([await images(alone), (await images(form.guestId)).length]).to.deep.equal([[], 1])
    expect(
      await rows(`select 1 from blob where id not in (select blob_id from guest_document_file) and id not in
      (select export_blob_id from privacy_request where export_blob_id is not null)`),
    ).to.deep.equal([])
  })

  it('go with their key once the law needs them no more, and the guest may come again', async () => {
    const [{ form, reservationId }, young] = [await book(80), await book(84)]
    for (const one of [form, young.form])
      await call('PATCH', `guest-registrations/${one.id}`, { form: whole(), signed: { on: 'paper', name: 'Rosa' } })
    const left = (id: string, years: number) =>
      rows(
        `with o as (update reservation_night set date = date - make_interval(years => ?) where reservation_id = ?)
         update reservation set arrival = arrival - make_interval(years => ?), departure = departure - make_interval(years => ?) where id = ?`,
        [years, id, years, years, id],
      )
    await left(reservationId, 6)
    await left(young.reservationId, 4)
    const keep = async () => {
      await inPlatform((trx) => enqueue(trx, keepLimits, {}))
      await world.drain()
    }
    const sealed = async (id: string) =>
      (
        await rows<{ form: boolean; key: boolean }>(
          `select f.sealed is not null as form, k.wrapped_key is not null as key from guest_registration f
           join guest_key k on k.guest_id = f.guest_id and k.purpose = 'retention' where f.id = ?`,
          [id],
        )
      )[0]
    // Another stay of the same guest, not yet over, keeps the forms of both.
    await rows(`update guest_registration set guest_id = ? where id = ?`, [form.guestId, young.form.id])
    await keep()
    expect(await sealed(form.id)).to.deep.equal({ form: true, key: true })
    await rows(`update guest_registration set guest_id = ? where id = ?`, [young.form.guestId, young.form.id])
    await keep()
    expect(await sealed(form.id)).to.deep.equal({ form: false, key: false })
    expect(await sealed(young.form.id)).to.deep.equal({ form: true, key: true })
    const { body: read } = await call('GET', `guest-registrations/${form.id}`)
    expect([read.signedName, read.form.residence]).to.deep.equal([null, { city: 'Natal', countryCode: 'BR' }])
    // The profile is as it was, and a new form has a key of its own.
    await rows(`update guest_registration set guest_id = ? where id = ?`, [form.guestId, young.form.id])
    await rows(`update guest_registration set sealed = null where id = ?`, [young.form.id])
    const again = await call('PATCH', `guest-registrations/${young.form.id}`, {
      form: whole(),
      signed: { on: 'paper', name: 'Rosa Lins' },
    })
    expect([again.status, again.body.signedName]).to.deep.equal([200, 'Rosa Lins'])
    expect(await sealed(young.form.id)).to.deep.equal({ form: true, key: true })
    await rows(
      `update guest set status = 'erased', erased_at = now(), sealed = null, email_index = null, phone_index = null, phone_tail_index = null,
      birth_index = null, name_index = null where id = ?`,
      [form.guestId],
    )
    await rows(
      `update guest_key set wrapped_key = null, destroyed_at = now() where guest_id = ? and purpose = 'retention'`,
      [form.guestId],
    )
    const code = await desk.house
      .inHouse((trx) => renewRetentionKey(trx, form.guestId))
      .then(
        () => null,
        (error: unknown) => (error as { code?: string; cause?: { code?: string } }).code,
      )
    expect(code).to.equal('PL010')
  })
})
