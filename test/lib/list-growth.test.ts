import { expect } from 'chai'
import { addDays, todayIn } from '../../config/time.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import {
  addDocument,
  addNote,
  deleteOldImages,
  verifyDocument,
  alertsOf,
  blockAgainst,
  blockGuest,
  blocksAmong,
  deleteDocument,
  findByDocumentAndEmail,
  matchGuests,
  readBlockFacts,
  taxpayerOf,
} from '../../db/guests/index.ts'
import { listDocuments as readGuestDocuments } from '../../db/guests/documents/documents.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import { foldCounts } from '../../db/lib/counts.ts'
import { idsLike, lowered, partly, tenantsLike } from '../../db/lib/words.ts'
import type { Searched } from '../../db/lib/words.ts'
import { runDue } from '../../workers/lib/run-due.ts'
import { forgetLimits, makeSuperuser, makeUser, signIn } from '../auth/support.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { clientOf } from '../support/client.ts'
import { brokenTotals, wrongTotals } from '../support/counts.ts'
import { makeHouse, timeZone } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makePayables } from '../support/payables.ts'
import { makeReceivables } from '../support/receivables.ts'
import { makeHold } from '../support/stay.ts'
import { pay } from '../support/pay.ts'
import { useWorld } from '../support/world.ts'
import { makeFirstRows } from './first-rows.ts'
import { short, untold } from './list-exceptions.ts'
import { cutsOf, dayOf, hasSorts, lists, pathOf, queriesOf, sortsIn, wrongPages } from './list-queries.ts'
import { growTables } from './grown-tables.ts'
import { idOf } from './made-rows.ts'
import { readsOf, rowsVisited, visitedIn } from './rows-visited.ts'

/** Rows that are added to each table that grows, and those that a statement may visit for a page of twenty: a quarter of them. */
const added = 2_000
const most = added / 4
const ofPlatform: ReadonlySet<string> = new Set(['app_user', 'subscription_invoice_by_issued_at', 'tenant_feature'])

describe('Lists and the size of their tables', function () {
  this.timeout(240_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let ownerToken: string
  let ownerId: string

  const rows = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    sql<Row>(world.database.admin, text, values)
  const one = async (text: string, values: unknown[] = []) => (await rows<{ n: number }>(text, values))[0]?.n ?? 0

  before(async () => {
    house = await makeHouse({ units: 4, deposit: null })
    await forgetLimits(world)
    const member = await makeUser()
    await house.inHouse((trx) => addMembership(trx, { userId: member.userId, role: 'owner', propertyIds: null }))
    ownerId = member.userId
    ownerToken = (await signIn(world, member)).token
    owner = deskOf(world, house.tenantId, ownerToken)
    for (const key of ['webhooks', 'channels'])
      await inPlatform((trx) => grantEntitlement(trx, { tenantId: house.tenantId, key, reason: 'no plan has it' }))
    const held = await makeHold(house, {})
    const paymentId = await pay(house, held, 'all')
    await world.drain({ starts: 2_000 })
    const refund = { amount: 100, reason: 'error' }
    done(await owner.send('POST', `payments/${paymentId}/refunds`, refund, { idempotencyKey: 'refund' }), 201)
    await makePayables(house)
    await makeReceivables(house)
    await makeFirstRows(house, owner)
    await world.drain({ starts: 2_000 })
  })

  it('counts what there is, by every column, before its changes are added up and after', async () => {
    const differing = () => rows(wrongTotals)
    expect(await differing()).to.deep.equal([])
    const waiting = () => one(`select count(*)::int as n from list_count where list = 'reservation'`)
    await house.inHouse(async (trx) => {
      for (let change = 0; change < 60; change += 1)
        await sql(
          trx,
          `update reservation set status = case status when 'confirmed' then 'no_show' else 'confirmed' end`,
        )
    })
    const before = await waiting()
    expect(await differing()).to.deep.equal([])
    expect(await inPlatform(foldCounts)).to.be.above(100)
    expect(await waiting()).to.be.below(before / 10)
    expect(await differing()).to.deep.equal([])
  })

  it('finds a total that somebody changed, by the name of its list and what it is of', async () => {
    for (const [list, statement] of Object.entries(brokenTotals)) {
      const found = await world.database.admin
        .transaction(async (trx) => {
          await sql(trx, statement, { tenantId: house.tenantId, propertyId: house.propertyId })
          await trx.rollback(await sql(trx, wrongTotals))
        })
        .then(
          () => [],
          (seen: unknown) => seen as { list: string; tenantId: string }[],
        )
      const named = found.map((one) => `${one.list} ${one.tenantId}`)
      expect(named, list).to.deep.equal([`${list} ${ofPlatform.has(list) ? null : house.tenantId}`])
    }
  })

  describe('with tables that have grown', () => {
    let person: { token: string }
    let operator: { token: string }
    let bookId: string
    let guestId: string
    const today = todayIn(timeZone)

    before(async function () {
      this.timeout(120_000)
      await forgetLimits(world)
      operator = await signIn(world, await makeSuperuser('N1'))
      person = { token: ownerToken }
      bookId = (await owner.get('financial/books')).body.data[0].id
      await growTables(world.database, { ...house, bookId }, { from: 1, until: added + 1 })
      await rows(`vacuum analyze`)
      const [guest] = await rows<{ id: string }>(`select ${idOf('guest', `'1'`)} as id`)
      guestId = guest!.id
    })

    it('visits no more rows for a page, in every list, without a filter and with the filters that people use', async () => {
      const request = clientOf(world.baseUrl)
      const visits = await rowsVisited(world.database)
      const found = { failed: [] as string[], growing: [] as string[], wrong: [] as string[], short: [] as string[] }
      const given = { propertyId: house.propertyId, bookId, guestId, today, yesterday: addDays(today, -1) }
      try {
        for (const list of lists) {
          await forgetLimits(world)
          const isPlatform = list.path.startsWith('/superuser')
          const tenantId = isPlatform ? null : house.tenantId
          const path = await pathOf(list, house, rows)
          const ask = (query: string) => request('GET', `${path}?${query}`, isPlatform ? operator : person)
          const get = (query: string) => ask(`limit=20${query}`)
          const sorts = hasSorts(list) ? sortsIn(JSON.stringify((await get('&sort=none')).body)) : []
          const plain = queriesOf(list, given)
          const asked = [...plain, ...sorts.map((sort) => `${plain[0]}${sort}`)]
          for (const query of [...asked, ...cutsOf(list, given)]) {
            const reply: { status?: number; body?: { meta?: { total: number } } } = {}
            const reads = await readsOf(async () => Object.assign(reply, await get(query)))
            const name = `${list.id}?${query.replaceAll(/=[^&]{10,}/g, '')}`
            if (reply.status !== 200) found.failed.push(`${name}: ${reply.status} ${JSON.stringify(reply.body)}`)
            const total = reply.body?.meta?.total ?? 0
            const rowsFound = await visits.found(tenantId, reads, 20)
            if (rowsFound !== null && rowsFound !== total && !(list.id in untold))
              found.wrong.push(`${name}: ${total} of ${rowsFound}`)
            if (query === plain[0] && total < added) found.short.push(list.id)
            if (asked.includes(query) && (await visits.of(tenantId, reads)) > most) found.growing.push(name)
          }
          const wrong = await wrongPages((paging) => ask(`${paging}${plain[0]}`))
          if (wrong !== null) found.failed.push(`${list.id}: ${wrong}`)
        }
      } finally {
        await visits.end()
      }
      expect(found.failed).to.deep.equal([])
      expect(found.growing).to.deep.equal([])
      expect(found.wrong, 'a total is the number of rows that its list finds').to.deep.equal([])
      expect(found.short.toSorted()).to.deep.equal(Object.keys(short).toSorted())
    })

    it('visits no more rows for a folio, what is to come on it, and the tape chart', async () => {
      const get = (path: string) => clientOf(world.baseUrl)('GET', path, person)
      const visits = await rowsVisited(world.database)
      try {
        const found: Record<string, number> = {}
        for (const path of await dayOf(house, todayIn(timeZone), rows)) {
          const asked = await readsOf(async () => expect((await get(path)).status, path).to.equal(200))
          found[path] = await visits.of(house.tenantId, asked)
        }
        expect(Object.entries(found).filter(([, n]) => n > most)).to.deep.equal([])
      } finally {
        await visits.end()
      }
    })

    it('finds parts of words without going through a table', async () => {
      const found: Record<string, number> = {}
      for (const table of Object.keys(lowered) as Searched[])
        found[table] = await visitedIn(house.tenantId, table, (trx) => idsLike(trx as Trx, table, partly('zzqxv')))
      found['tenant'] = await visitedIn(null, 'tenant', (trx) => tenantsLike(trx as PlatformTrx, partly('zzqxv')))
      expect(Object.entries(found).filter(([, n]) => n > most)).to.deep.equal([])
    })

    it('finds all records with a word that more have than are named one by one', async () => {
      const [made] = await rows<{ word: string }>(
        `select split_part(search, ' ', 1) as word from supplier where tenant_id = ? and id = ${idOf('supplier', `'1'`)}`,
        [house.tenantId],
      )
      const word = made?.word ?? ''
      expect(await house.inHouse((trx) => idsLike(trx, 'supplier', partly(word)))).to.equal(null)
      for (const list of ['suppliers', 'payables', 'purchase-orders']) {
        const path = `/api/tenants/${house.tenantId}/accounts-payable/${list}?limit=1&q=${word}`
        const { body } = await clientOf(world.baseUrl)('GET', path, person)
        expect(body.meta.total, list).to.be.above(added - 1)
      }
    })

    it('visits no job that is not due where those that are due are looked for', async () => {
      await rows(
        `insert into jobs (id, queue, kind, payload, run_at, ready, request_id, actor)
         select gen_random_uuid(), 'inventory', 'inventory.expire-hold', '{}', now() + make_interval(days => n), false, 'later', '{}' from generate_series(1, ?) n`,
        [added],
      )
      await rows(`vacuum analyze jobs`)
      const visits = await rowsVisited(world.database)
      try {
        const asked = await readsOf(() => runDue({ kinds: ['inventory.expire-hold'] }))
        expect(asked).to.have.length.above(0)
        expect(await visits.of(null, asked)).to.be.below(most)
      } finally {
        await visits.end()
        await rows(`delete from jobs where request_id = 'later'`)
      }
    })

    it('visits no more rows where a person is looked for under all profiles', async () => {
      const guestId = idOf('guest', 'n')
      const [person] = await rows<{ id: string }>(
        `select g.id from guest g join guest_key k on k.tenant_id = g.tenant_id and k.guest_id = g.id where g.tenant_id = ? and g.status = 'active' limit 1`,
        [house.tenantId],
      )
      const personId = person!.id
      const by = (work: (trx: Trx) => Promise<unknown>) =>
        inTenant(house.tenantId, work, { actor: { type: 'user', id: ownerId } })
      const documentId = (await by((trx) =>
        addDocument(trx, personId, { kind: 'cpf', countryCode: 'BR', number: '12345678909' } as never),
      )) as string
      await by((trx) => addNote(trx, personId, { text: 'late', audience: 'front_desk', alertAt: 'check_in' }))
      const blockId = (await by((trx) => blockGuest(trx, personId, { level: 'warn', reason: 'noise' }))) as string
      await world.database.admin.transaction(async (trx) => {
        await sql(trx, `set local session_replication_role = replica`)
        // Every second profile is merged into the one before it.
        await sql(
          trx,
          `update guest set status = 'merged', merged_into_id = m.into_id
           from (select ${guestId} as id, case n when 2 then :personId else ${idOf('guest', 'n - 1')} end as into_id from generate_series(2, ${added}, 2) n) m
           where guest.id = m.id`,
          { personId },
        )
        await sql(
          trx,
          `insert into guest_document_file (tenant_id, guest_id, document_id, side, media_type, bytes, sha256, blob_id)
           values (?, ?, ?, 'front', 'image/png', 1, sha256('x'), gen_random_uuid())`,
          [house.tenantId, personId, documentId],
        )
      })
      await rows(`vacuum analyze guest`)
      const inTrx = (work: (trx: Trx) => Promise<unknown>) => () => by(work).catch(() => {})
      const looks: Record<string, () => Promise<unknown>> = {
        alerts: inTrx((trx) => alertsOf(trx, [personId], { audiences: ['front_desk'], alertAt: 'check_in' })),
        taxpayer: inTrx((trx) => taxpayerOf(trx, personId)),
        'a block of a person': inTrx((trx) =>
          blockAgainst(trx, house.propertyId, { guestIds: [personId], documentNumber: '12345678909' }),
        ),
        'blocks among': inTrx((trx) => blocksAmong(trx, house.propertyId, 'select unnest(?::uuid[])', [personId])),
        'a new block': inTrx((trx) =>
          blockGuest(trx, personId, { level: 'warn', reason: 'noise', propertyId: house.propertyId }),
        ),
        'a document that is verified': inTrx((trx) =>
          verifyDocument(trx, personId, documentId, { decision: 'verified', method: 'in_person' }),
        ),
        'images that are over': inTrx(deleteOldImages),
        'facts of a block': inTrx((trx) => readBlockFacts(trx, personId, blockId)),
        duplicates: inTrx((trx) => matchGuests(trx, personId)),
        'a document': inTrx((trx) => deleteDocument(trx, personId, documentId)),
        documents: inTrx((trx) => readGuestDocuments(trx, [personId])),
        'a booker from outside': inTrx((trx) => findByDocumentAndEmail(trx, '12345678909', 'a@guests.example')),
      }
      const visits = await rowsVisited(world.database)
      try {
        const found: Record<string, number> = {}
        for (const [name, look] of Object.entries(looks)) {
          const asked = await readsOf(look)
          found[name] = asked.length === 0 ? -1 : await visits.of(house.tenantId, asked)
        }
        expect(Object.entries(found).filter(([, n]) => n < 0 || n > most)).to.deep.equal([])
      } finally {
        await visits.end()
      }
    })
  })
})
