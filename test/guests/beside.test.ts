import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { forgetLimits } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'
import { png, useGuests } from './support.ts'

describe('What is kept beside guests', () => {
  const world = useWorld()
  const desk = useGuests(world)
  const { call, create, rows } = desk
  beforeEach(() => forgetLimits(world))

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

  it('have at most 200 notes, also when two desks write the last one at once', async () => {
    const id = await create()
    const add = () => call('POST', `guests/${id}/notes`, { text: 'Likes tea', audience: 'all' })
    const { body: first } = await add()
    await rows(
      `insert into guest_note (guest_id, audience, alert_moment, sealed, created_by)
       select n.guest_id, n.audience, n.alert_moment, n.sealed, n.created_by from guest_note n, generate_series(1, 198) where n.id = ?`,
      [first.id],
    )
    const last = await Promise.all([add(), add()])
    expect(last.map((one) => one.status)).to.have.members([201, 422])
    expect(last.find((one) => one.status === 422)?.body.code).to.equal('too_many')
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
})
