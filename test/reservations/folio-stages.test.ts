import { expect } from 'chai'
import { raisePostings } from '../../db/financial/index.ts'
import { lockFolios } from '../../db/reservations/folio/lock.ts'
import { leaveDepositStages, returnToDepositStages } from '../../db/reservations/folio/stage.ts'
import { balanceOf } from '../financial/support.ts'
import { makeLateHouse, makeStays, payAll, readStay } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { deskOf } from './desk.ts'

describe('The stage of a folio', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 3 })
  })
  const { folioOf, healthy } = deskOf(() => house)

  it('takes its credits from the deposits to the ledger of guests and back, to the cent', async () => {
    const [id = ''] = await makeStays(house, 1, { from: 3 })
    await payAll(house, id)
    const { total } = await readStay(house, id)
    const move = (to: typeof leaveDepositStages) =>
      house.inHouse(async (trx) => {
        const { folios, postings } = await to(trx, await lockFolios(trx, id))
        await raisePostings(trx, house.propertyId, postings)
        return folios.map((folio) => folio.stage)
      })
    expect(await move(leaveDepositStages)).to.deep.equal(['guest'])
    expect(await move(returnToDepositStages)).to.deep.equal(['deposit'])
    expect(await move(returnToDepositStages)).to.deep.equal(['deposit'])
    expect((await folioOf(id)).credits).to.equal(total)
    await healthy()
    expect(await balanceOf({ ...house }, 'deposits')).to.equal(total)
    expect(await balanceOf({ ...house }, 'guest_ledger')).to.equal(0)
  })
})
