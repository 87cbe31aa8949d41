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
    for (const q of ['conceicao maria', 'MARIA@example.com', '0001', '+55 24 99999-0001', number, 'da Conceição'])
      expect((await call('GET', `guests?q=${encodeURIComponent(q)}`)).body.data[0]?.id, q).to.equal(made.body.id)
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
    expect(JSON.stringify(trail)).to.not.match(/RV 100200|1990|maria/)
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
    await house.inHouse((trx) =>
      trx.raw(`update tenant set settings = '{"guests": {"revealsPerHour": 10}}'`).then(() => undefined),
    )
    const body = { reason: 'contact', fields: ['email'] }
    const replies = await Promise.all(
      Array.from({ length: 14 }, () => world.request('POST', `${path}/${guest.id}/reveal`, { key, body })),
    )
    expect(replies.filter((one) => one.status === 200)).to.have.length(10)
    expect(replies.filter((one) => one.body.code === 'reveal_limit')).to.have.length(4)
  })

  it('have documents: added once, sealed images told by content, verified, deleted', async () => {
    const id = await create()
    const passport = { kind: 'passport', countryCode: 'US', number: 'C0-33' }
    const added = await call('POST', `guests/${id}/documents`, passport)
    expect(added.status).to.equal(201)
    const documentId = added.body.id
    const twins = await Promise.all(
      Array.from({ length: 4 }, () => call('POST', `guests/${id}/documents`, { ...passport, number: 'D77' })),
    )
    expect(twins.map((one) => one.status)).to.have.members([201, 409, 409, 409])
    expect((await call('POST', `guests/${id}/documents`, { ...passport, number: 'c033' })).body.code).to.equal(
      'duplicate_document',
    )
    const other = await create()
    const taken = await call('POST', `guests/${other}/documents`, passport)
    expect(taken.body).to.deep.include({ code: 'duplicate_guest' })
    expect(taken.body.errors[0].message).to.contain(id)
    const file = `guests/${id}/documents/${documentId}/files/front`
    const stored = await call('PUT', file, { mediaType: 'image/png', data: png })
    expect(stored.body.files[0]).to.include({ side: 'front', mediaType: 'image/png' })
    expect((await call('PUT', file, { mediaType: 'application/pdf', data: png })).body.code).to.equal(
      'file_type_mismatch',
    )
    expect((await call('PUT', file, { mediaType: 'image/png', data: 'not base64!' })).status).to.equal(400)
    expect((await call('PUT', `${file}s`, { mediaType: 'image/png', data: png })).status).to.equal(400)
    const blobs = await rows<{ bytes: Buffer }>(
      `select b.bytes from blob b join guest_document_file f on f.blob_id = b.id where f.document_id = ?`,
      [documentId],
    )
    expect(blobs).to.have.length(1)
    expect(blobs[0]?.bytes.includes('IDAT')).to.equal(false)
    const shown = await call('POST', `guests/${id}/reveal`, {
      reason: 'verification',
      file: { documentId, side: 'front' },
    })
    expect(shown.body.file).to.deep.equal({ mediaType: 'image/png', data: png })
    const verified = await call('POST', `guests/${id}/documents/${documentId}/verify`, {
      decision: 'verified',
      method: 'in_person',
      keepFiles: false,
    })
    expect(verified.body).to.deep.include({ status: 'verified', files: [] })
    expect(
      await rows(`select id from blob b where b.id not in (select blob_id from guest_document_file)`),
    ).to.deep.equal([])
    const twice = { ...passport, number: 'TWICE 1' }
    const first = await call('POST', `guests/${id}/documents`, twice)
    const decide = (decision: string) =>
      call('POST', `guests/${id}/documents/${first.body.id}/verify`, {
        decision,
        method: 'video',
        reason: 'Not legible',
      })
    expect((await decide('rejected')).body.status).to.equal('rejected')
    expect((await call('POST', `guests/${other}/documents`, twice)).status, 'it is free').to.equal(201)
    expect((await decide('verified')).body.code, 'another guest has it now').to.equal('duplicate_guest')
    const old = await call('POST', `guests/${id}/documents`, { ...passport, number: 'OLD1', expiresOn: '2020-01-01' })
    const late = await call('POST', `guests/${id}/documents/${old.body.id}/verify`, {
      decision: 'verified',
      method: 'video',
    })
    expect(late.body.code).to.equal('document_expired')
    const silent = { decision: 'rejected', method: 'video' }
    const rejected = await call('POST', `guests/${id}/documents/${old.body.id}/verify`, silent)
    expect([rejected.status, rejected.body.errors[0].field]).to.deep.equal([400, 'reason'])
    expect((await call('DELETE', `guests/${other}/documents/${documentId}`)).status).to.equal(404)
    expect((await call('DELETE', `guests/${id}/documents/${documentId}`)).status).to.equal(200)
  })

  it('have documents that are good until the house has left their last day, and change at the version that was read', async () => {
    const id = await create()
    const { propertyId, today } = desk.house
    const add = async (number: string, expiresOn: string) =>
      (await call('POST', `guests/${id}/documents`, { kind: 'passport', countryCode: 'UY', number, expiresOn })).body
    const [last, over] = [await add('DAY 1', addDays(today, -1)), await add('DAY 2', addDays(today, -2))]
    expect([last.expired, over.expired]).to.deep.equal([true, true])
    const before = await rows<{ businessDate: string | null }>(`select business_date from property where id = ?`, [
      propertyId,
    ])
    await rows(`update property set business_date = ? where id = ?`, [addDays(today, -1), propertyId])
    try {
      const { body } = await call('GET', `guests/${id}`)
      expect(body.documents.map((one: { expired: boolean }) => one.expired)).to.deep.equal([false, true])
      const check = (one: { id: string }, version?: number) =>
        call(
          'POST',
          `guests/${id}/documents/${one.id}/verify`,
          { decision: 'verified', method: 'in_person' },
          version === undefined ? {} : { headers: { 'if-match': `"${version}"` } },
        )
      expect((await check(over)).body.code).to.equal('document_expired')
      expect((await check(last, last.version + 1)).body.code).to.equal('version_conflict')
      const file = `guests/${id}/documents/${last.id}/files/front`
      const stored = await call('PUT', file, { mediaType: 'image/png', data: png }, { headers: { 'if-match': '"1"' } })
      expect(stored.body.version).to.equal(2)
      expect((await check(last, 1)).body.code, 'an image came meanwhile').to.equal('version_conflict')
      expect((await check(last, 2)).body.status).to.equal('verified')
      const gone = await call('DELETE', `guests/${id}/documents/${last.id}`, undefined, {
        headers: { 'if-match': '"2"' },
      })
      expect(gone.body.code).to.equal('version_conflict')
      const block = await call(
        'POST',
        `guests/${id}/blocks`,
        { level: 'warn', reason: 'Loud' },
        { headers: { 'if-match': '"7"' } },
      )
      expect(block.body.code).to.equal('version_conflict')
    } finally {
      await rows(`update property set business_date = ? where id = ?`, [before[0]?.businessDate ?? null, propertyId])
    }
  })

  it('refuse a file of one byte more than 10 MiB, and keep one of 10 MiB', async () => {
    const id = await create({ documents: [{ kind: 'rg', countryCode: 'BR', number: `${Date.now()}` }] })
    const { body } = await call('GET', `guests/${id}`)
    const path = `guests/${id}/documents/${body.documents[0].id}/files/back`
    const pdf = Buffer.alloc(10 * 1024 * 1024 + 1, 32)
    pdf.write('%PDF-1.7\n')
    const large = await call('PUT', path, { mediaType: 'application/pdf', data: pdf.toString('base64') })
    expect(large.body.code).to.equal('file_too_large')
    const fits = await call('PUT', path, { mediaType: 'application/pdf', data: pdf.subarray(1).toString('base64') })
    expect(fits.body.code).to.equal('file_type_mismatch')
    const whole = pdf.subarray(0, -1).toString('base64')
    expect((await call('PUT', path, { mediaType: 'application/pdf', data: whole })).status).to.equal(200)
  })

  it('have notes that reach their audience alone, and are deleted by author or manager', async () => {
    const id = await create()
    const ids: Record<string, string> = {}
    for (const audience of ['all', 'front_desk', 'housekeeping', 'billing', 'relations']) {
      const made = await call('POST', `guests/${id}/notes`, { text: `for ${audience}`, audience, alertAt: 'check_in' })
      expect(made.status).to.equal(201)
      ids[audience] = made.body.id
    }
    const seen = async (role: string) =>
      ((await call('GET', `guests/${id}`, undefined, { role })).body.notes as { audience: string }[]).map(
        (one) => one.audience,
      )
    expect(await seen('owner')).to.have.length(5)
    expect(await seen('receptionist')).to.deep.equal(['all', 'front_desk', 'housekeeping', 'billing'])
    expect(await seen('finance')).to.deep.equal(['all', 'billing'])
    expect(await seen('relations')).to.deep.equal(['all', 'relations'])
    expect(await seen('auditor')).to.deep.equal([])
    const own = await call('POST', `guests/${id}/notes`, { text: 'mine', audience: 'all' }, { role: 'receptionist' })
    const other = await call('DELETE', `guests/${id}/notes/${ids.all}`, undefined, { role: 'receptionist' })
    expect(other.status).to.equal(403)
    expect(
      (await call('DELETE', `guests/${id}/notes/${own.body.id}`, undefined, { role: 'receptionist' })).status,
    ).to.equal(200)
    expect((await call('DELETE', `guests/${id}/notes/${ids.all}`)).status).to.equal(200)
    expect((await call('DELETE', `guests/${id}/notes/${ids.all}`)).status).to.equal(404)
  })

  it('withdraw what they granted: the latest decision counts', async () => {
    const id = await create()
    for (const decision of ['granted', 'withdrawn', 'granted', 'withdrawn'])
      await call('POST', `guests/${id}/consents`, { purpose: 'profiling', decision, source: 'desk', textVersion: '2' })
    const { body } = await call('GET', `guests/${id}`)
    expect(body.consents).to.have.length(1)
    expect(body.consents[0].decision).to.equal('withdrawn')
  })

  it('are blocked for one house or all, with a reason that managers alone read, and found by a document', async () => {
    const document = { kind: 'passport', countryCode: 'PT', number: `BL ${randomUUID().slice(0, 6)}` }
    const id = await create({ documents: [document] })
    const { propertyId } = desk.house
    const made = await call('POST', `guests/${id}/blocks`, { level: 'refuse', reason: 'Broke the door', propertyId })
    expect(made.status).to.equal(201)
    expect(made.body).to.include({ inForce: true, reason: 'Broke the door' })
    const twice = await call('POST', `guests/${id}/blocks`, { level: 'warn', reason: 'Again', propertyId })
    expect(twice.body.code).to.equal('already_blocked')
    const everywhere = await call(
      'POST',
      `guests/${id}/blocks`,
      { level: 'warn', reason: 'Loud' },
      { role: 'relations' },
    )
    expect(everywhere.status).to.equal(201)
    const harsh = await call('POST', `guests/${id}/blocks`, { level: 'refuse', reason: 'Loud' }, { role: 'relations' })
    expect(harsh.status).to.equal(403)
    const found = async (level: string) =>
      ((await call('GET', `guests?blocked=${level}`)).body.data as { id: string; blocked: string }[]).filter(
        (one) => one.id === id,
      )
    expect((await found('refuse')).map((one) => one.blocked)).to.deep.equal(['refuse'])
    expect(await found('warn'), 'the strictest counts').to.deep.equal([])
    const seen = await call('GET', `guests/${id}`, undefined, { role: 'receptionist' })
    expect(seen.body.blocks.map((one: { level: string; reason: unknown }) => [one.level, one.reason])).to.deep.equal([
      ['warn', null],
      ['refuse', null],
    ])
    const { blockAgainst } = await import('../../db/guests/index.ts')
    const against = (documentNumber: string) =>
      desk.house.inHouse((trx) => blockAgainst(trx, propertyId, { documentNumber }))
    expect(await against(document.number.toLowerCase())).to.equal('refuse')
    const later = await create({ documents: [{ ...document, number: 'LATER1' }] })
    await call('POST', `guests/${later}/blocks`, {
      level: 'refuse',
      reason: 'Soon',
      startsOn: addDays(desk.house.today, 1),
    })
    expect(await against('LATER1')).to.equal(null)
    const lifted = await call('POST', `guests/${id}/blocks/${made.body.id}/lift`, { reason: 'Paid for it' })
    expect(lifted.body).to.include({ inForce: false, liftReason: 'Paid for it' })
    expect(await against(document.number)).to.equal('warn')
    expect((await call('POST', `guests/${id}/blocks/${made.body.id}/lift`, { reason: 'Paid for it' })).status).to.equal(
      200,
    )
    // One that is over stands in no way.
    const over = await call('POST', `guests/${later}/blocks`, {
      level: 'warn',
      reason: 'For a day',
      propertyId,
      startsOn: desk.house.today,
      endsOn: desk.house.today,
    })
    await rows(`update guest_block set starts_on = starts_on - 9, ends_on = ends_on - 9 where id = ?`, [over.body.id])
    expect(
      (await call('POST', `guests/${later}/blocks`, { level: 'warn', reason: 'Anew', propertyId })).status,
    ).to.equal(201)
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
