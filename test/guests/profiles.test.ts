import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { forgetLimits, makeKey } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { newCpf, png, useGuests } from './support.ts'

describe('Guests at the desk', () => {
  const world = useWorld()
  const desk = useGuests(world)
  const { call, create, rows } = desk
  beforeEach(() => forgetLimits(world))
  const person = {
    email: 'maria@example.com',
    phone: '+5524999990001',
    birthDate: '1990-02-28',
    address: { city: 'Paraty', countryCode: 'BR' },
    preferences: [{ category: 'food', text: 'No nuts' }],
  }

  it('are made with documents and consents, and found by each of them', async () => {
    const number = newCpf()
    const made = await call('POST', 'guests', {
      firstName: 'Maria',
      lastName: 'da Conceição',
      ...person,
      documents: [{ kind: 'cpf', countryCode: 'BR', number }],
      consents: [{ purpose: 'marketing_email', decision: 'granted', source: 'desk', textVersion: '1' }],
    })
    expect(made.status).to.equal(201)
    expect(made.body).to.include({ status: 'active', source: 'staff', email: person.email, version: 1 })
    expect(made.body.documents[0]).to.include({ number: `***${number.slice(-2)}`, status: 'pending', expired: false })
    expect(made.body.consents[0]).to.include({ purpose: 'marketing_email', decision: 'granted' })
    expect(made.body.masked).to.deep.equal(['birthDate', 'documents'])
    expect(JSON.stringify(made.body)).to.not.contain('1990-02-28')
    for (const q of [
      'conceicao maria',
      'MARIA@example.com',
      '0001',
      '+55 24 99999-0001',
      '(24) 99999-0001',
      number,
      'da Conceição',
    ])
      expect((await call('GET', `guests?q=${encodeURIComponent(q)}`)).body.data[0]?.id, q).to.equal(made.body.id)
    const passport = { kind: 'passport', countryCode: 'PT', number: 'YC 129-871' }
    expect((await call('POST', `guests/${made.body.id}/documents`, passport)).status).to.equal(201)
    const typed = await call('GET', 'guests?q=yc129871')
    expect(typed.body.data.map((one: { id: string }) => one.id)).to.deep.equal([made.body.id])
    for (const q of ['%', '_a_', 'zz'])
      expect((await call('GET', `guests?q=${encodeURIComponent(q.padEnd(3, ' '))}`)).body.data, q).to.deep.equal([])
  })

  it('show each role what it may see, in the list and alone', async () => {
    const id = await create({ ...person, gender: 'female', email: `${randomUUID().slice(0, 8)}@example.com` })
    for (const role of ['owner', 'admin', 'manager', 'receptionist', 'relations']) {
      const { body } = await call('GET', `guests/${id}`, undefined, { role })
      expect(body.phone, role).to.equal(person.phone)
      expect(body.preferences, role).to.have.length(1)
      expect(body.age, role).to.be.a('number')
    }
    for (const role of ['finance', 'auditor']) {
      const { body } = await call('GET', `guests/${id}`, undefined, { role })
      expect(body, role).to.deep.include({ phone: '***0001', address: null, preferences: [], gender: null })
      expect(body.masked, role).to.deep.equal(['email', 'phone', 'gender', 'address', 'preferences', 'birthDate'])
    }
    for (const role of ['housekeeper', 'maintenance', 'stock'])
      expect((await call('GET', `guests/${id}`, undefined, { role })).status, role).to.equal(403)
    const { key } = await makeKey(desk.house.tenantId, ['guests:read'])
    const byKey = await world.request('GET', `/api/tenants/${desk.house.tenantId}/guests/${id}`, { key })
    expect(byKey.body.phone).to.equal('***0001')
    const stranger = await makeHouse()
    const other = await makeKey(stranger.tenantId, ['guests:read'])
    const elsewhere = await world.request('GET', `/api/tenants/${stranger.tenantId}/guests/${id}`, { key: other.key })
    expect(elsewhere.status).to.equal(404)
  })

  it('change by what is sent, under the version that was read', async () => {
    const id = await create(person)
    const { body } = await call(
      'PATCH',
      `guests/${id}`,
      { email: null, tags: ['vip'], address: { city: 'Olinda' } },
      { headers: { 'if-match': '"1"' } },
    )
    expect(body).to.deep.include({ email: null, phone: person.phone, tags: ['vip'], address: { city: 'Olinda' } })
    const stale = await call('PATCH', `guests/${id}`, { tags: [] }, { headers: { 'if-match': '"1"' } })
    expect(stale.body.code).to.equal('version_conflict')
    for (const [bad, field] of [
      [{ phone: '+5512' }, 'phone'],
      [{ phone: '+55249999900011111' }, 'phone'],
      [{ birthDate: '1899-12-31' }, 'birthDate'],
      [{ birthDate: addDays(desk.house.today, 3) }, 'birthDate'],
      [{ nationality: 'ZZ' }, 'nationality'],
      [{ firstName: '  ' }, 'firstName'],
      [{ tags: ['Big Words'] }, 'tags.0'],
    ] as const) {
      const reply = await call('PATCH', `guests/${id}`, bad)
      expect(reply.status, JSON.stringify(bad)).to.equal(400)
      expect(reply.body.errors[0].field).to.equal(field)
    }
    const card = await call('PATCH', `guests/${id}`, {
      preferences: [{ category: 'other', text: '4111 1111 1111 1111' }],
    })
    expect(card.body.code).to.equal('card_data_refused')
    const tags = await call('GET', 'guests/tags')
    expect(tags.body.data).to.deep.include({ tag: 'vip', count: 1 })
  })

  it('are revealed with a reason, which the trail keeps without a value', async () => {
    const documents = [{ kind: 'passport', countryCode: 'FR', number: 'RV 100200' }]
    const id = await create({ ...person, documents })
    const { body: guest } = await call('GET', `guests/${id}`)
    const shown = await call(
      'POST',
      `guests/${id}/reveal`,
      { reason: 'check_in', fields: ['birthDate', 'email'], documentIds: [guest.documents[0].id] },
      { role: 'receptionist' },
    )
    expect(shown.status).to.equal(200)
    expect(shown.headers['cache-control']).to.contain('no-store')
    expect(shown.body).to.deep.equal({
      fields: { birthDate: '1990-02-28', email: person.email },
      documents: [{ id: guest.documents[0].id, number: 'RV 100200', issuer: null }],
      file: null,
    })
    const trail = await rows<{ reason: string; changes: unknown }>(
      `select reason, changes from audit_entry where action = 'guest.reveal' and subject_id = ?`,
      [id],
    )
    expect(trail).to.have.length(1)
    expect(trail[0]?.reason).to.equal('check_in')
    expect(JSON.stringify(trail)).to.not.match(/RV 100200|(?<![\da-f-])1990(?![\da-f])|maria/)
    const silent = await call('POST', `guests/${id}/reveal`, { reason: 'other', fields: ['email'] })
    expect(silent.body.errors[0].field).to.equal('note')
    expect((await call('POST', `guests/${id}/reveal`, { reason: 'legal' })).status).to.equal(400)
    const strange = { reason: 'legal', documentIds: [randomUUID()] }
    expect((await call('POST', `guests/${id}/reveal`, strange)).status).to.equal(404)
    const finance = await call(
      'POST',
      `guests/${id}/reveal`,
      { reason: 'legal', fields: ['email'] },
      { role: 'finance' },
    )
    expect(finance.status).to.equal(403)
    const writer = await makeKey(desk.house.tenantId, ['write', 'read'])
    const revealer = await makeKey(desk.house.tenantId, ['guests:reveal'])
    const path = `/api/tenants/${desk.house.tenantId}/guests/${id}/reveal`
    const body = { reason: 'contact', fields: ['phone'] }
    expect((await world.request('POST', path, { key: writer.key, body })).status).to.equal(403)
    expect((await world.request('POST', path, { key: revealer.key, body })).body.fields.phone).to.equal(person.phone)
  })

  it('are revealed no more often in an hour than the tenant allows, however many ask at once', async () => {
    const house = await makeHouse()
    const { key } = await makeKey(house.tenantId, ['write', 'guests:reveal'])
    const path = `/api/tenants/${house.tenantId}/guests`
    const { body: guest } = await world.request('POST', path, {
      key,
      body: { firstName: 'Ida', email: 'i@example.com' },
    })
    const body = { reason: 'contact', fields: ['email'] }
    const ask = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () => world.request('POST', `${path}/${guest.id}/reveal`, { key, body })),
      )
    const replies = [...(await ask(31)), ...(await ask(31))]
    expect(replies.filter((one) => one.status === 200)).to.have.length(60)
    expect(replies.filter((one) => one.body.code === 'reveal_limit')).to.have.length(2)
    await house.inHouse((trx) =>
      trx.raw(`update tenant set settings = '{"guests": {"revealsPerHour": 62}}'`).then(() => undefined),
    )
    expect((await ask(4)).map((one) => one.status)).to.have.members([200, 200, 429, 429])
    const other = await makeKey(house.tenantId, ['guests:reveal'])
    const own = await world.request('POST', `${path}/${guest.id}/reveal`, { key: other.key, body })
    expect(own.status, 'each caller by itself').to.equal(200)
  })

  it('are found by tag and by the time of their last change, in the order that is asked for', async () => {
    const [a, b] = [await create({ firstName: 'Tagged', tags: ['alpha', 'beta'] }), await create({ tags: ['alpha'] })]
    const listed = async (query: string) =>
      ((await call('GET', `guests?${query}`)).body.data as { id: string }[]).map((one) => one.id)
    expect(await listed('tag=alpha&sort=-createdAt')).to.deep.equal([b, a])
    expect(await listed('tag=alpha&sort=createdAt')).to.deep.equal([a, b])
    expect(await listed('tag=beta')).to.deep.equal([a])
    await rows(`update guest set tags = tags where id = ?`, [b])
    const { body } = await call('GET', `guests/${b}`)
    const since = encodeURIComponent(body.updatedAt as string)
    expect(await listed(`tag=alpha&updatedSince=${since}`)).to.deep.equal([b])
    await call('PATCH', `guests/${a}`, { tags: ['beta'] })
    expect((await call('GET', 'guests/tags')).body.data).to.deep.include({ tag: 'alpha', count: 1 })
  })

  it('are deleted while nothing refers to them, with all that belongs to them', async () => {
    const id = await create({
      ...person,
      documents: [{ kind: 'passport', countryCode: 'IT', number: 'DEL 1' }],
      consents: [{ purpose: 'profiling', decision: 'granted', source: 'desk', textVersion: '1', evidence: 'said so' }],
    })
    await call('POST', `guests/${id}/notes`, { text: 'x', audience: 'all' })
    const { body } = await call('GET', `guests/${id}`)
    await call('PUT', `guests/${id}/documents/${body.documents[0].id}/files/front`, {
      mediaType: 'image/png',
      data: png,
    })
    expect((await call('DELETE', `guests/${id}`)).status).to.equal(200)
    expect((await call('GET', `guests/${id}`)).status).to.equal(404)
    for (const table of ['guest_key', 'guest_document', 'guest_document_file', 'guest_note', 'guest_consent'])
      expect(await rows(`select 1 from ${table} where guest_id = ?`, [id]), table).to.deep.equal([])
    expect(await rows(`select 1 from blob`)).to.have.length((await rows(`select 1 from guest_document_file`)).length)
    const blocked = await create()
    await call('POST', `guests/${blocked}/blocks`, { level: 'warn', reason: 'Loud' })
    const kept = await call('DELETE', `guests/${blocked}`)
    expect(kept.body).to.deep.include({ code: 'guest_in_use' })
    expect((await call('GET', `guests/${blocked}`)).status).to.equal(200)
  })

  it('have stays and statistics over all their profiles', async () => {
    const { house } = desk
    const bookingId = await makeHold(house, {
      from: 3,
      nights: 2,
      words: { booker: { firstName: 'Ivo', lastName: 'Reis', email: 'ivo@example.com' } },
    })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    const found = await call('GET', 'guests?q=ivo%40example.com')
    const old = found.body.data[0].id
    const survivor = await create({ firstName: 'Ivo', lastName: 'Reis' })
    expect(
      (await call('POST', `guests/${survivor}/merge`, { mergedGuestId: old, reason: 'Same person' })).status,
    ).to.equal(200)
    const stays = await call('GET', `guests/${survivor}/stays`)
    expect(stays.body.data).to.have.length(1)
    expect(stays.body.data[0]).to.include({ bookingId, status: 'confirmed', arrival: house.day(3) })
    const hidden = await call('GET', `guests/${survivor}/stays?status=checked_in`)
    expect(hidden.body.data).to.deep.equal([])
    const { body } = await call('GET', `guests/${survivor}`)
    expect(body.statistics).to.include({ upcoming: 1, stays: 0, nights: 0, firstArrival: null })
    expect((await call('GET', `guests/${randomUUID()}/stays`)).status).to.equal(404)
  })
})
