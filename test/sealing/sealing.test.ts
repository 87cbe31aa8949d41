import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inTenant, openDatabase, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import {
  blindIndex,
  blobs,
  createGuestKeys,
  destroyGuestKey,
  KeyDestroyed,
  normaliseName,
  rewrapKeys,
  seal,
  sealForService,
  unseal,
  unsealForService,
  unsealGuests,
} from '../../db/lib/sealing/index.ts'
import { createTestDatabase } from '../support/services.ts'
import type { TestDatabase } from '../support/services.ts'

const rejection = async (work: Promise<unknown>): Promise<Error> => {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not fail')
}

class Undo extends Error {}

/** Works in a transaction that does not commit: keys of guests without their guests. */
const undone = async (tenantId: string, work: (trx: Trx) => Promise<void>) => {
  const error = await rejection(
    inTenant(tenantId, async (trx) => {
      await work(trx)
      throw new Undo()
    }),
  )
  if (!(error instanceof Undo)) throw error
}

describe('sealing', () => {
  let database: TestDatabase
  const tenantId = randomUUID()
  const value = { email: 'ana@example.com', nested: { list: [1, 'dois', null] } }

  before(async () => {
    database = await createTestDatabase()
    await openDatabase(database.url)
  })
  after(() => database.drop())

  it('opens in its own place and in no other row, table, purpose or tenant', async () => {
    const rowId = randomUUID()
    const place = { table: 'guest', rowId, purpose: 'profile' }
    const sealed = await inTenant(tenantId, (trx) => seal(trx, 'tenant', place, value))
    expect(sealed.toString('latin1')).not.to.contain('ana@')
    await inTenant(tenantId, async (trx) => {
      expect(await unseal(trx, 'tenant', place, sealed)).to.deep.equal(value)
      for (const other of [
        { ...place, rowId: randomUUID() },
        { ...place, table: 'booking' },
        { ...place, purpose: 'notes' },
      ])
        expect((await rejection(unseal(trx, 'tenant', other, sealed))).message).to.match(/authenticate/)
      const changed = Buffer.from(sealed)
      changed[20] = (changed[20] ?? 0) ^ 1
      await rejection(unseal(trx, 'tenant', place, changed))
      await rejection(unseal(trx, 'tenant', place, sealed.subarray(0, 10)))
    })
    await inTenant(randomUUID(), async (trx) => {
      expect((await rejection(unseal(trx, 'tenant', place, sealed))).message).to.match(/authenticate/)
    })
  })

  it('makes one key of a tenant though twenty transactions want the first', async () => {
    const fresh = randomUUID()
    const sealed = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        inTenant(fresh, (trx) => seal(trx, 'tenant', { table: 't', rowId: String(index), purpose: 'p' }, index)),
      ),
    )
    await inTenant(fresh, async (trx) => {
      for (const [index, bytes] of sealed.entries())
        expect(await unseal(trx, 'tenant', { table: 't', rowId: String(index), purpose: 'p' }, bytes)).to.equal(index)
      expect(await sql(trx, 'select tenant_id from tenant_key')).to.have.length(1)
    })
  })

  it('forgets a key whose transaction did not commit', async () => {
    const fresh = randomUUID()
    const place = { table: 't', rowId: 'r', purpose: 'p' }
    await undone(fresh, async (trx) => void (await seal(trx, 'tenant', place, 1)))
    const sealed = await inTenant(fresh, (trx) => seal(trx, 'tenant', place, 2))
    expect(await inTenant(fresh, (trx) => unseal(trx, 'tenant', place, sealed))).to.equal(2)
  })

  it("destroys what a guest's key sealed, and leaves the other key and other guests", async () => {
    await undone(tenantId, async (trx) => {
      const [ana, rui] = [randomUUID(), randomUUID()]
      createGuestKeys(trx, ana, rui)
      const place = (rowId: string) => ({ table: 'guest', rowId, purpose: 'profile' })
      const profile = await seal(trx, { guestId: ana, purpose: 'profile' }, place(ana), value)
      const form = await seal(trx, { guestId: ana, purpose: 'retention' }, place(ana), 'form')
      const other = await seal(trx, { guestId: rui, purpose: 'profile' }, place(rui), value)
      expect(
        (await rejection(unseal(trx, { guestId: rui, purpose: 'profile' }, place(ana), profile))).message,
      ).to.match(/authenticate/)
      expect(await destroyGuestKey(trx, ana, 'profile')).to.equal(true)
      expect(await destroyGuestKey(trx, ana, 'profile')).to.equal(false)
      expect(await rejection(unseal(trx, { guestId: ana, purpose: 'profile' }, place(ana), profile))).to.be.instanceOf(
        KeyDestroyed,
      )
      expect(await rejection(seal(trx, { guestId: ana, purpose: 'profile' }, place(ana), value))).to.be.instanceOf(
        KeyDestroyed,
      )
      expect(await unseal(trx, { guestId: ana, purpose: 'retention' }, place(ana), form)).to.equal('form')
      expect(
        await unsealGuests(trx, 'profile', [
          { guestId: ana, place: place(ana), sealed: profile },
          { guestId: rui, place: place(rui), sealed: other },
        ]),
      ).to.deep.equal([null, value])
    })
  })

  it('never brings a destroyed key back', async () => {
    await undone(tenantId, async (trx) => {
      const guestId = randomUUID()
      createGuestKeys(trx, guestId)
      await destroyGuestKey(trx, guestId, 'profile')
      await trx.raw('savepoint s')
      const error = await rejection(
        sql(
          trx,
          `update guest_key set wrapped_key = ?, destroyed_at = null where guest_id = ? and purpose = 'profile'`,
          [randomBytes(61), guestId],
        ),
      )
      expect(error.message).to.contain('does not come back')
      await trx.raw('rollback to s')
    })
  })

  it('opens everything after a change of the master key, before and after the keys are wrapped again', async () => {
    const fresh = randomUUID()
    const kept = [...settings.dataKeys]
    const place = { table: 'guest', rowId: 'r', purpose: 'profile' }
    try {
      await undone(fresh, async (trx) => {
        const guestId = randomUUID()
        createGuestKeys(trx, guestId)
        const sealed = await seal(trx, { guestId, purpose: 'profile' }, place, value)
        const company = await seal(trx, 'tenant', place, value)
        settings.dataKeys.unshift({ id: 'next', key: randomBytes(32) })
        expect(await unseal(trx, { guestId, purpose: 'profile' }, place, sealed)).to.deep.equal(value)
        expect(await rewrapKeys(trx, 1)).to.equal(1)
        expect(await rewrapKeys(trx)).to.equal(0)
        settings.dataKeys.splice(1)
        expect(
          await sql(
            trx,
            `select distinct master_key_id from (select master_key_id from guest_key union select master_key_id from tenant_key) k`,
          ),
        ).to.deep.equal([{ masterKeyId: 'next' }])
        expect(await unseal(trx, { guestId, purpose: 'profile' }, place, sealed)).to.deep.equal(value)
        expect(await unseal(trx, 'tenant', place, company)).to.deep.equal(value)
      })
    } finally {
      settings.dataKeys.splice(0, settings.dataKeys.length, ...kept)
    }
  })

  it('seals for the service under any master key of the list', () => {
    const kept = [...settings.dataKeys]
    const place = { table: 'app_user', rowId: 'u', purpose: 'totp' }
    const sealed = sealForService(place, 'secret')
    try {
      settings.dataKeys.unshift({ id: 'next', key: randomBytes(32) })
      expect(unsealForService(place, sealed)).to.equal('secret')
      expect(() => unsealForService({ ...place, rowId: 'other' }, sealed)).to.throw(/authenticate/)
    } finally {
      settings.dataKeys.splice(0, settings.dataKeys.length, ...kept)
    }
  })

  it('finds a value however it is written, within its tenant alone', async () => {
    const indexes = await inTenant(tenantId, async (trx) => ({
      email: blindIndex(trx, 'email', ' Ana@Example.COM'),
      same: blindIndex(trx, 'email', 'ana@example.com'),
      phone: blindIndex(trx, 'phone', '+55 (21) 99999-0001'),
      samePhone: blindIndex(trx, 'phone', '0055 21 99999 0001'),
      cpf: blindIndex(trx, 'document', '529.982.247-25'),
      sameCpf: blindIndex(trx, 'document', '52998224725'),
      name: blindIndex(trx, 'name', 'João da Silva'),
      sameName: blindIndex(trx, 'name', 'SILVA, Joao'),
      tail: blindIndex(trx, 'phone_tail', '+55 21 99999-0001'),
    }))
    expect(indexes.email).to.deep.equal(indexes.same)
    expect(indexes.phone).to.deep.equal(indexes.samePhone)
    expect(indexes.cpf).to.deep.equal(indexes.sameCpf)
    expect(indexes.name).to.deep.equal(indexes.sameName)
    expect(indexes.email).to.have.length(16)
    expect(indexes.tail).not.to.deep.equal(indexes.phone)
    const elsewhere = await inTenant(randomUUID(), async (trx) => blindIndex(trx, 'email', 'ana@example.com'))
    expect(elsewhere).not.to.deep.equal(indexes.email)
    expect(normaliseName('Conceição e Sá  dos Santos')).to.equal('conceicao sa santos')
  })

  it('keeps files of one tenant out of the sight of another', async () => {
    const bytes = randomBytes(100_000)
    const id = await inTenant(tenantId, (trx) => blobs.put(trx, bytes))
    expect(await inTenant(tenantId, (trx) => blobs.get(trx, id))).to.deep.equal(bytes)
    expect(await inTenant(randomUUID(), (trx) => blobs.get(trx, id))).to.equal(null)
    await inTenant(tenantId, (trx) => blobs.remove(trx, [id]))
    expect(await inTenant(tenantId, (trx) => blobs.get(trx, id))).to.equal(null)
  })
})
