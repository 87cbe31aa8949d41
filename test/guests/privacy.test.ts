import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { verifyToken } from '../../config/tokens.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { eraseStep, erasureSteps, makeExport } from '../../db/guests/index.ts'
import { receiveMessage } from '../../db/ocp/index.ts'
import { addComment, createIssue, registerItem } from '../../db/issues/index.ts'
import { addAttachment } from '../../db/lib/attachments.ts'
import { eraseGuest, keepLimits } from '../../jobs/guests.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { isGuestTokenLive } from '../../db/reservations/access.ts'
import { cancelStays, resolveGuestsFor } from './privacy-support.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { forgetLimits } from '../auth/support.ts'
import { timeZone } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { newCpf, png, useGuests } from './support.ts'

describe('Privacy requests', () => {
  const world = useWorld()
  const desk = useGuests(world)
  const { call, create, rows } = desk
  beforeEach(() => forgetLimits(world))

  const owner = { role: 'owner' }
  const ask = async (guestId: string, kind: string, more: object = {}) => {
    const { status, body } = await call('POST', 'privacy-requests', { guestId, kind, channel: 'in_person', ...more })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body as {
      id: string
      plan: { hash: string; blockers: { code: string }[]; items: { table: string }[] } | null
      dueOn: string
    }
  }
  const approve = (id: string, body: object = {}) =>
    call('POST', `privacy-requests/${id}/approve`, { identityMethod: 'document', ...body }, owner)
  const read = async (id: string) => (await call('GET', `privacy-requests/${id}`, undefined, owner)).body
  const seeds = {
    firstName: 'Quitéria',
    lastName: 'Zanzibar',
    email: 'quiteria.zanzibar@example.com',
    phone: '+5531987654321',
  }

  /** Every text and JSON of every table of the database that holds one of the words. */
  const traces = async (words: readonly string[]): Promise<string[]> => {
    const columns = await sql<{ tableName: string; columnName: string; type: string }>(
      world.database.admin,
      `select c.relname as table_name, a.attname as column_name, t.typname as type from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and t.typname in ('text', 'jsonb', '_text', 'bytea', 'varchar')`,
    )
    const found: string[] = []
    for (const { tableName, columnName, type } of columns) {
      const text = type === 'bytea' ? `encode("${columnName}", 'escape')` : `"${columnName}"::text`
      const hits = await sql<{ id: string }>(
        world.database.admin,
        `select 1 as id from "${tableName}" where ${words.map(() => `${text} ilike ?`).join(' or ')} limit 1`,
        words.map((word) => `%${word}%`),
      )
      if (hits.length > 0) found.push(`${tableName}.${columnName}`)
    }
    return found
  }

  /** Words about a guest in places that name the booking, the stay or the payment, and not the guest. */
  const spreadWords = async (bookingId: string, guestId: string, stayId: string) => {
    const { propertyId, unitTypeId, gatewayAccountId, day } = desk.house
    await rows(`update booking set external_reference = 'Xanadu 7' where id = ?`, [bookingId])
    await rows(
      `insert into quote (property_id, number, guest_id, rooms, currency, total, due_now, locale, hash, arrival, departure, override, expires_at)
       values (?, '0123456A', ?, '[{}]', 'BRL', 1, 0, 'en', 'x', ?, ?, '{"rules":["price"],"reason":"Xanadu bargains"}', now())`,
      [propertyId, guestId, day(1), day(2)],
    )
    const [payment] = await rows<{ id: string }>(
      `insert into payment (channel, gateway_account_id, method, property_id, target_type, target_id, amount, currency, status, captured_amount, allocated_amount, captured_at,
         ended_at, payer, note)
       values ('portal', ?, 'card', ?, 'booking', ?, 1, 'BRL', 'captured', 1, 1, now(), now(), 'x', 'Xanadu paid in coins') returning id`,
      [gatewayAccountId, propertyId, bookingId],
    )
    await rows(
      `insert into refund (payment_id, property_id, amount, currency, reason, note, via, status, requested_by)
       values (?, ?, 1, 'BRL', 'guest_request', 'Xanadu wants it back', 'pix_return', 'failed', '{"type":"system","id":null}')`,
      [payment?.id, propertyId],
    )
    const contact = { name: 'Q Xanadu', email: 'q.xanadu@example.com' }
    const wish = { propertyId, arrival: day(60), departure: day(61), adults: 1, unitTypeIds: [unitTypeId], contact }
    const waiting = await call('POST', 'waitlist', wish)
    expect(waiting.status, JSON.stringify(waiting.body)).to.equal(201)
    await rows(`update waitlist_entry set status = 'booked', booking_id = ? where id = ?`, [bookingId, waiting.body.id])
    await hear({ from: 'xanadu@example.net', subject: 'Xanadu', text: 'Xanadu here' })
    await rows(`update conversation set guest_id = ? where guest_id is null`, [guestId])
    // Before the hold was confirmed there was no profile that a message could name.
    await hear({ from: 'x@example.net', subject: 'Hold', text: 'Xanadu again' })
    await rows(
      `update message set reservation_id = ? where guest_id is null and id not in (
      select m.id from message m join conversation c on c.id = m.conversation_id where c.guest_id is not null)`,
      [stayId],
    )
  }

  const hear = (mail: { from: string; subject: string; text: string }) =>
    desk.house.inHouse((trx) =>
      receiveMessage(trx, desk.house.propertyId, 'email', {
        providerId: randomUUID(),
        attachments: [],
        isOptOut: false,
        ...mail,
      }),
    )

  it('follow a merged profile to its survivor', async () => {
    const [id, old] = [await create({ firstName: 'Sara' }), await create({ firstName: 'Sarah' })]
    expect((await call('POST', `guests/${id}/merge`, { mergedGuestId: old, reason: 'One person' })).status).to.equal(
      200,
    )
    const made = await call('POST', 'privacy-requests', { guestId: old, kind: 'access', channel: 'email' })
    expect([made.status, made.body.guestId]).to.deep.equal([201, id])
  })

  it('give access: an export that is sealed, downloaded in the sight of the trail, and gone after 7 days', async () => {
    const id = await create({ ...seeds, documents: [{ kind: 'passport', countryCode: 'BR', number: 'EXP 1' }] })
    const { propertyId } = desk.house
    await hear({ from: seeds.email, subject: 'A cot', text: 'Is there a cot?' })
    // A stranger who wrote is named later, and an answer names the guest's address alone.
    await hear({ from: 'q.z@example.org', subject: 'Parking', text: 'Is there parking?' })
    const [unnamed] = await rows<{ id: string }>(`select id from conversation where guest_id is null`)
    const named = await call('PATCH', `ocp/conversations/${unnamed?.id}`, { guestId: id })
    expect(named.status, JSON.stringify(named.body)).to.equal(200)
    const answer = { propertyId, guestId: id, text: { subject: 'Your cot', text: 'Yes, Quitéria, there is.' } }
    expect((await call('POST', 'ocp/messages', answer)).status).to.equal(201)
    const request = await ask(id, 'access')
    const again = await call('POST', 'privacy-requests', { guestId: id, kind: 'access', channel: 'email' })
    expect(again.body.code).to.equal('privacy_request_open')
    expect((await approve(request.id)).body.status).to.equal('running')
    expect((await approve(request.id)).status, 'again').to.equal(200)
    expect((await call('GET', `privacy-requests/${request.id}/export`, undefined, owner)).status).to.equal(404)
    await world.drain()
    const done = await read(request.id)
    expect(done).to.include({ status: 'completed', hasExport: true })
    const got = await call('GET', `privacy-requests/${request.id}/export`, undefined, owner)
    expect(got.body.profiles[0]).to.include({ firstName: 'Quitéria', email: seeds.email })
    expect(got.body.documents[0].number).to.equal('EXP 1')
    expect(
      got.body.messages.map((one: Record<string, unknown>) => [one.direction, one.address, one.subject, one.text]),
    ).to.deep.equal([
      ['inbound', seeds.email, 'A cot', 'Is there a cot?'],
      ['inbound', 'q.z@example.org', 'Parking', 'Is there parking?'],
      ['outbound', seeds.email, 'Your cot', 'Yes, Quitéria, there is.'],
    ])
    expect(
      await rows(`select 1 from audit_entry where action = 'privacyRequests.export' and subject_id = ?`, [request.id]),
    ).to.have.length(1)
    expect((await call('GET', `privacy-requests/${request.id}/export`)).status, 'a manager').to.equal(403)
    await desk.house.inHouse((trx) => makeExport(trx, request.id))
    expect(await rows(`select 1 from privacy_request where export_blob_id is not null`)).to.have.length(1)
    await rows(`update privacy_request set export_until = now() - interval '1 hour' where id = ?`, [request.id])
    const late = await call('GET', `privacy-requests/${request.id}/export`, undefined, owner)
    expect(late.body.code).to.equal('export_expired')
    await inPlatform((trx) => enqueue(trx, keepLimits, {}))
    await world.drain()
    expect(await rows(`select 1 from privacy_request where export_blob_id is not null`)).to.deep.equal([])
  })

  it('correct what the guest asks for, with a certificate', async () => {
    const id = await create({ firstName: 'Ana' })
    expect(
      (await call('POST', 'privacy-requests', { guestId: id, kind: 'correction', channel: 'email' })).status,
    ).to.equal(400)
    for (const [correction, field] of [
      [{}, 'correction'],
      [{ phone: '+5524999' }, 'correction.phone'],
      [{ birthDate: addDays(desk.house.today, 3) }, 'correction.birthDate'],
    ] as const) {
      const asked = { guestId: id, kind: 'correction', channel: 'email', correction }
      const { status, body } = await call('POST', 'privacy-requests', asked)
      expect([status, body.errors[0].field]).to.deep.equal([400, field])
    }
    const nobody = await call('POST', 'privacy-requests', {
      guestId: desk.house.propertyId,
      kind: 'access',
      channel: 'email',
    })
    expect([nobody.body.code, nobody.body.errors[0].field]).to.deep.equal(['reference_not_found', 'guestId'])
    const request = await ask(id, 'correction', { correction: { lastName: 'Prado' } })
    expect((await approve(request.id)).body).to.include({ status: 'completed' })
    expect((await call('GET', `guests/${id}`)).body.lastName).to.equal('Prado')
  })

  it('are refused by owners and admins alone, with the basis in law', async () => {
    const request = await ask(await create(), 'erasure')
    const body = { legalBasis: 'LGPD, article 16', reason: 'An invoice is open' }
    expect((await call('POST', `privacy-requests/${request.id}/refuse`, body)).status).to.equal(403)
    const refused = await call('POST', `privacy-requests/${request.id}/refuse`, body, { role: 'admin' })
    expect(refused.body).to.include({ status: 'refused', legalBasis: body.legalBasis })
    expect((await approve(request.id)).body.code).to.equal('invalid_transition')
  })

  it('erase a guest with all profiles: no trace is left in any column, and the certificate proves it', async () => {
    const { house } = desk
    const number = newCpf()
    const bookingId = await makeHold(house, {
      from: 60,
      nights: 1,
      words: {
        booker: {
          firstName: 'Quitéria',
          lastName: 'Xanadu',
          email: 'q.xanadu@example.com',
          document: { type: 'cpf', number },
        },
        requests: 'Xanadu wants a cot',
      },
    })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    const found = await call('GET', `guests?q=${encodeURIComponent('q.xanadu@example.com')}`)
    const old = found.body.data[0].id as string
    const id = await create({
      firstName: 'Quitéria',
      lastName: 'Xanadu',
      phone: '+5531912345678',
      preferences: [{ category: 'food', text: 'Xanadu eats no nuts' }],
    })
    await call('POST', `guests/${id}/merge`, { mergedGuestId: old, take: ['email'], reason: 'Both are Xanadu' })
    await call('POST', `guests/${id}/notes`, { text: 'Mrs Xanadu is kind', audience: 'all' })
    await call('POST', `guests/${id}/consents`, {
      purpose: 'profiling',
      decision: 'granted',
      source: 'desk',
      textVersion: '1',
      evidence: 'Xanadu signed',
    })
    const block = await call('POST', `guests/${id}/blocks`, { level: 'refuse', reason: 'Xanadu broke a chair' })
    const { body: guest } = await call('GET', `guests/${id}`)
    await call('PUT', `guests/${id}/documents/${guest.documents[0].id}/files/front`, {
      mediaType: 'image/png',
      data: png,
    })
    // Files of issues and of lost property go with their texts.
    const files = await house.inHouse(async (trx) => {
      const [category] = await sql<{ id: string }>(trx, `select id from issue_category where code = 'noise'`)
      const { propertyId } = house
      const made = { propertyId, guestId: id }
      const title = 'Xanadu cannot sleep'
      const ids = {
        issue: await createIssue(trx, { ...made, categoryId: category?.id ?? '', title, priority: 'low' }),
        lost_item: await registerItem(trx, { ...made, direction: 'found', category: 'bag', description: 'Of Xanadu' }),
      }
      const bytes = Buffer.from(png, 'base64')
      for (const [type, of] of Object.entries(ids))
        await addAttachment(
          trx,
          { module: 'issues', type, id: of },
          { fileName: 'Xanadu.png', mediaType: 'image/png', bytes },
        )
      return Object.values(ids)
    })
    const request = await ask(id, 'erasure', { note: 'Xanadu writes' })
    expect(request.plan?.blockers.map((one) => one.code)).to.deep.equal(['active_reservation'])
    expect((await approve(request.id, { planHash: request.plan?.hash })).body).to.deep.include({
      code: 'erasure_blocked',
    })
    const [stay] = await rows<{ id: string }>(`select id from reservation where booking_id = ?`, [bookingId])
    const key = () => ({ ...owner, idempotencyKey: randomUUID() })
    const label = { propertyId: house.propertyId, kind: 'guest', reservationId: stay?.id, label: 'Xanadu pays' }
    expect((await call('POST', 'folios', label, key())).status).to.equal(201)
    const words = { reason: 'illness', note: 'Xanadu is ill' }
    const cancelled = await call('POST', `reservations/${stay?.id}/cancel`, { ...words, fee: 0 }, owner)
    expect(cancelled.status, JSON.stringify(cancelled.body)).to.equal(200)
    const ofStay = `reservation_id = ? and transition = 'T11'`
    const override = JSON.stringify({ rules: ['fee'], reason: 'Xanadu is poor' })
    const kept = `reservation_id, transition, command, "from", "to", reason, changes, actor, business_date, request_id`
    await rows(
      `insert into reservation_event (${kept}, override) select ${kept}, ?::jsonb from reservation_event where ${ofStay}`,
      [override, stay?.id],
    )
    await spreadWords(bookingId, id, stay?.id ?? '')
    const stale = await approve(request.id, { planHash: request.plan?.hash })
    expect(stale.body.code).to.equal('plan_changed')
    const { plan } = await read(request.id)
    expect(plan.blockers).to.deep.equal([])
    const merging = await call('POST', `guests/${id}/merge`, { mergedGuestId: await create(), reason: 'Not now' })
    expect(merging.body.code).to.equal('privacy_request_open')
    expect((await approve(request.id, { planHash: plan.hash })).body.status).to.equal('running')
    expect((await call('GET', `guests/${old}`)).body).to.include({
      status: 'erased',
      firstName: 'Erased guest',
      lastName: '',
    })
    expect(await resolveGuestsFor(house, id)).to.equal('guest_erased')
    // Killed after some tables, and begun again.
    for (const table of erasureSteps.slice(0, 4)) await house.inHouse((trx) => eraseStep(trx, request.id, table))
    await world.drain()
    const done = await read(request.id)
    expect(done.status).to.equal('completed')
    const rowsOf = (table: string) =>
      done.certificate.erased.find((one: { table: string }) => one.table === table)?.rows
    expect(rowsOf('guest')).to.equal(2)
    expect(rowsOf('guest_document')).to.equal(1)
    expect(rowsOf('guest_document_file')).to.equal(1)
    expect(rowsOf('guest_note')).to.equal(1)
    expect(done.certificate.kept.map((one: { table: string }) => one.table)).to.include.members([
      'guest_consent',
      'guest_block',
      'folio',
    ])
    expect(await rows(`select 1 from attachment where entity_id = any(?::uuid[])`, [files])).to.deep.equal([])
    const token = await verifyToken('certificate', done.certificateToken)
    expect(token.ok && token.claims.sha256).to.equal(done.certificate.sha256)
    expect(await traces(['xanadu', number, '31912345678'])).to.deep.equal([])
    expect(
      await rows(
        `select count(*) filter (where m.text is not null or m.recipient is not null)::int as messages,
           (select count(*)::int from waitlist_entry where sealed is not null) as wishes from message m
         where m.reservation_id = ? or m.conversation_id in (select id from conversation where guest_id = ?)`,
        [stay?.id, id],
      ),
    ).to.deep.equal([{ messages: 0, wishes: 0 }])
    const kinds = `select payer, action, note from payment where target_id = ?`
    expect(await rows(kinds, [bookingId])).to.deep.equal([{ payer: null, action: null, note: null }])
    const history = `select reason, override from reservation_event where ${ofStay} order by override is null`
    expect(await rows(history, [stay?.id])).to.deep.equal([
      { reason: 'illness', override: { rules: ['fee'], reason: 'erased' } },
      { reason: 'illness', override: null },
    ])
    // The stay does not come back without its guest.
    const back = await call('POST', `reservations/${stay?.id}/reinstate`, { reason: 'Comes after all' })
    expect([back.status, back.body.errors?.map((one: { field: string }) => one.field)]).to.deep.equal([
      422,
      ['blockers.guest_erased'],
    ])
    // The job that runs again changes nothing.
    await inTenant(house.tenantId, (trx) =>
      enqueue(trx, eraseGuest, { tenantId: house.tenantId, privacyRequestId: request.id }),
    )
    await world.drain()
    expect((await read(request.id)).version).to.equal(done.version)
    // A new profile with the barred document is still found, until the block ends.
    const { blockAgainst } = await import('../../db/guests/index.ts')
    expect(await house.inHouse((trx) => blockAgainst(trx, house.propertyId, { documentNumber: number }))).to.equal(
      'refuse',
    )
    await rows(`update guest set erased_at = now() - interval '3 years' where id = ?`, [id])
    await inPlatform((trx) => enqueue(trx, keepLimits, {}))
    await world.drain()
    expect(await house.inHouse((trx) => blockAgainst(trx, house.propertyId, { documentNumber: number }))).to.equal(null)
    expect(block.status).to.equal(201)
  })

  it('erase a guest whose document authorises the stay of a minor', async () => {
    const { house } = desk
    const bookingId = await makeHold(house, {
      from: 70,
      nights: 1,
      words: { booker: { firstName: 'Nina', lastName: 'Braga', email: 'nina.braga@example.com' } },
    })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    const parent = await create({ documents: [{ kind: 'passport', countryCode: 'BR', number: 'PARENT 1' }] })
    const minors = `from reservation r where r.id = n.reservation_id and r.booking_id = ?`
    await rows(
      `update reservation_guest n set kinship = 'mother',
         authorisation_document_id = (select id from guest_document where guest_id = ?) ${minors}`,
      [parent, bookingId],
    )
    const request = await ask(parent, 'erasure')
    await approve(request.id, { planHash: request.plan?.hash })
    await world.drain()
    expect(await read(request.id)).to.include({ status: 'completed' })
    expect(
      await rows(
        `select n.kinship, n.authorisation_document_id from reservation_guest n, reservation r
         where r.id = n.reservation_id and r.booking_id = ?`,
        [bookingId],
      ),
    ).to.deep.equal([{ kinship: 'mother', authorisationDocumentId: null }])
  })

  it('erase what names the stay or the payment of a guest alone, and end what tokens of the booking show', async () => {
    const { house } = desk
    const { propertyId, gatewayAccountId } = house
    const bookingId = await makeHold(house, { from: 62, nights: 1 })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    const [booking] = await rows<{ guestId: string; stayId: string }>(
      `select b.booker_guest_id as guest_id, r.id as stay_id from booking b join reservation r on r.booking_id = b.id where b.id = ?`,
      [bookingId],
    )
    const { guestId, stayId: reservationId } = booking!
    const [payment] = await rows<{ id: string }>(
      `insert into payment (channel, gateway_account_id, method, property_id, target_type, target_id, amount, currency, status, captured_amount, allocated_amount, captured_at, ended_at)
       values ('portal', ?, 'card', ?, 'booking', ?, 1, 'BRL', 'captured', 1, 1, now(), now()) returning id`,
      [gatewayAccountId, propertyId, bookingId],
    )
    const about = await house.inHouse(async (trx) => {
      const [category] = await sql<{ id: string }>(trx, `select id from issue_category where code = 'billing'`)
      const made = {
        propertyId,
        categoryId: category?.id ?? '',
        title: 'Ana was here',
        priority: 'low' as const,
        guestId: null,
      }
      const item = {
        propertyId,
        direction: 'found' as const,
        category: 'bag' as const,
        description: 'The bag of Ana',
        guestId: null,
      }
      const issues = [
        await createIssue(trx, { ...made, reservationId }),
        await createIssue(trx, { ...made, paymentId: payment?.id ?? '' }),
      ]
      await addComment(
        trx,
        issues[1]!,
        { text: 'Ana was called', visibility: 'internal' },
        { role: null, mayMessage: false },
      )
      return { issues, item: await registerItem(trx, { ...item, reservationId }), other: await createIssue(trx, made) }
    })
    const [issue = ''] = about.issues
    await house.inHouse((trx) =>
      addAttachment(
        trx,
        { module: 'issues', type: 'issue', id: issue },
        { fileName: 'Ana.png', mediaType: 'image/png', bytes: Buffer.from(png, 'base64') },
      ),
    )
    expect(
      await rows(`select 1 from issue where guest_id is not null and id = any(?::uuid[])`, [about.issues]),
    ).to.deep.equal([])
    const isLive = () => house.inHouse((trx) => isGuestTokenLive(trx, bookingId, new Date(Date.now() - 60_000)))
    await cancelStays(house, bookingId)
    expect(await isLive()).to.equal(true)
    const request = await ask(guestId, 'erasure')
    await approve(request.id, { planHash: request.plan?.hash })
    await world.drain()
    expect(await read(request.id)).to.include({ status: 'completed' })
    const readable = `select (select count(*)::int from issue where sealed is not null and id = any(:issues::uuid[])) as issues,
      (select count(*)::int from issue_comment where sealed is not null and issue_id = any(:issues::uuid[])) as comments,
      (select count(*)::int from lost_item where sealed is not null and id = :item) as items,
      (select count(*)::int from issue where sealed is not null and id = :other) as others,
      (select count(*)::int from attachment where entity_id = :issue) as files`
    const left = await house.inHouse((trx) => sql(trx, readable, { ...about, issue }))
    expect(left).to.deep.equal([{ issues: 0, comments: 0, items: 0, others: 1, files: 0 }])
    expect(await isLive()).to.equal(false)
  })

  it('end access that an erasure overtakes, before its approval or after', async () => {
    const id = await create()
    const access = await ask(id, 'access')
    const erasure = await ask(id, 'erasure')
    expect((await approve(access.id)).body.status).to.equal('running')
    expect((await approve(erasure.id, { planHash: erasure.plan?.hash })).body.status).to.equal('running')
    await world.drain()
    expect(await read(access.id)).to.include({ status: 'refused', hasExport: false })
    expect(await read(erasure.id)).to.include({ status: 'completed' })

    const third = await create()
    const made = await ask(third, 'access')
    await approve(made.id)
    await world.drain()
    const last = await ask(third, 'erasure')
    await approve(last.id, { planHash: last.plan?.hash })
    const gone = await call('GET', `privacy-requests/${made.id}/export`, undefined, owner)
    expect(gone.body.code).to.equal('export_expired')

    const other = await create()
    const late = await ask(other, 'access')
    const first = await ask(other, 'erasure')
    await approve(first.id, { planHash: first.plan?.hash })
    expect((await approve(late.id)).body.code).to.equal('guest_erased')
  })

  it('tell once that the day is near, and once that it is over, by the calendar of the tenant', async () => {
    // One of these has another date than UTC at any moment.
    const utc = todayIn('UTC')
    const zone = todayIn('Pacific/Kiritimati') === utc ? 'Etc/GMT+12' : 'Pacific/Kiritimati'
    await rows(`update tenant set time_zone = ?`, [zone])
    const day = todayIn(zone)
    const request = await ask(await create(), 'access')
    expect(request.dueOn).to.equal(addDays(day, 15))
    const events = async () =>
      (
        await rows<{ type: string }>(
          `select type from event where type like 'privacy_request.due%' and entity ->> 'id' = ? order by type`,
          [request.id],
        )
      ).map((row) => row.type)
    const limits = async () => {
      await inPlatform((trx) => enqueue(trx, keepLimits, {}))
      await world.drain()
    }
    const due = (days: number) =>
      rows(`update privacy_request set due_on = ? where id = ?`, [addDays(day, days), request.id])
    await due(4)
    await limits()
    expect(await events()).to.deep.equal([])
    await due(3)
    await limits()
    await limits()
    expect(await events()).to.deep.equal(['privacy_request.due_date_neared'])
    const overdue = async () =>
      (await call('GET', 'privacy-requests?overdue=true', undefined, owner)).body.data.map(
        (one: { id: string }) => one.id,
      )
    await due(0)
    await limits()
    expect(await events()).to.deep.equal(['privacy_request.due_date_neared'])
    expect([await overdue(), (await read(request.id)).overdue]).to.deep.equal([[], false])
    await due(-1)
    await limits()
    await limits()
    expect(await events()).to.deep.equal(['privacy_request.due_date_neared', 'privacy_request.due_date_passed'])
    expect([await overdue(), (await read(request.id)).overdue]).to.deep.equal([[request.id], true])
    await rows(`update tenant set time_zone = ?`, [timeZone])
  })

  it('are proposed for guests who have not come for the years that the tenant says', async () => {
    const id = await create()
    const recent = await create()
    await rows(`update guest set created_at = now() - interval '6 years' where id = ?`, [id])
    await rows(`update tenant set settings = '{"guests": {"inactiveYears": 5}}'`)
    await inPlatform((trx) => enqueue(trx, keepLimits, {}))
    await world.drain()
    const { body } = await call('GET', `privacy-requests?kind=erasure&guestId=${id}`, undefined, owner)
    expect(body.data).to.have.length(1)
    expect(body.data[0]).to.include({ channel: 'retention', status: 'received' })
    expect((await call('GET', `privacy-requests?guestId=${recent}`, undefined, owner)).body.data).to.deep.equal([])
    await rows(`update tenant set settings = '{}'`)
  })

  it('lose or win against a booking of the guest, and never both', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await create()
      const request = await ask(id, 'erasure')
      const naming = desk.house.inHouse(async (trx) => {
        const { resolveGuests } = await import('../../db/guests/index.ts')
        await resolveGuests(trx, [id])
        await sql(trx, `select pg_sleep(0.02)`)
        const [row] = await sql<{ status: string }>(trx, `select status from guest where id = ?`, [id])
        return row?.status
      })
      const [named, approved] = await Promise.allSettled([
        naming,
        approve(request.id, { planHash: request.plan?.hash }),
      ])
      if (named.status === 'fulfilled') expect(named.value).to.equal('active')
      else expect(named.reason.code).to.equal('guest_erased')
      expect(approved.status === 'fulfilled' && approved.value.status).to.equal(200)
    }
  })
})
