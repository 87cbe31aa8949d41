import { expect } from 'chai'
import fc from 'fast-check'
import { addDays } from '../../config/time.ts'
import { pack } from '../../db/units/rules/unit-packing.ts'
import type { FitUnit, Piece, Taken } from '../../db/units/rules/unit-packing.ts'

const day = (index: number) => addDays('2027-03-01', index)
const unit = (id: string, more: Partial<FitUnit> = {}): FitUnit => ({
  id,
  unitTypeId: 'type',
  position: Number(id.slice(1)),
  name: id,
  activeFrom: day(-100),
  activeUntil: null,
  ...more,
})
const piece = (key: string, from: number, to: number, unitId: string | null = null): Piece => ({
  key,
  unitTypeId: 'type',
  from: day(from),
  to: day(to),
  unitId,
})
const taken = (unitId: string, from: number, to: number): Taken => ({ unitId, from: day(from), to: day(to) })
const placesOf = (packing: { places: Map<string, string> }) => Object.fromEntries(packing.places)

describe('Packing of stays', () => {
  it('leaves the smallest gap, in the type’s own units first, within their active days', () => {
    const units = [unit('u1'), unit('u2'), unit('u3', { unitTypeId: 'other' }), unit('u4', { activeUntil: day(4) })]
    const around = [taken('u1', 0, 1), taken('u2', 0, 3), taken('u3', 0, 3), taken('u3', 5, 9), taken('u4', 0, 3)]
    expect(placesOf(pack(units, around, [], [piece('stay', 3, 5)]))).to.deep.equal({ stay: 'u2' })
    expect(placesOf(pack(units, around, [], [piece('stay', 3, 4)]))).to.deep.equal({ stay: 'u2' })
    expect(
      placesOf(pack(units, [...around, taken('u2', 3, 4), taken('u1', 3, 4)], [], [piece('stay', 3, 4)])),
    ).to.deep.equal({ stay: 'u4' })
  })

  it('finds a chain of three where nothing is free, and moves nobody who is not in it', () => {
    const units = [unit('u1'), unit('u2'), unit('u3'), unit('u4')]
    const locked = [taken('u2', 9, 10), taken('u3', 9, 11), taken('u4', 9, 13)]
    const present = [piece('a', 10, 13, 'u1'), piece('b', 11, 14, 'u2'), piece('c', 20, 22, 'u1')]
    const packing = pack(units, locked, present, [piece('x', 9, 12)])
    expect(packing.stranded).to.deep.equal([])
    expect(placesOf(packing)).to.deep.equal({ x: 'u1', a: 'u2', b: 'u3', c: 'u1' })
  })

  it('gives up on what cannot be, and leaves all others where they were', () => {
    const units = Array.from({ length: 12 }, (_, index) => unit(`u${index}`))
    const present = units.flatMap(({ id }, index) => [piece(`a${index}`, 0, 5, id), piece(`b${index}`, 5, 9, id)])
    const packing = pack(units, [], present, [piece('x', 4, 6)])
    expect(packing.stranded).to.deep.equal(['x'])
    for (const one of present) expect(packing.places.get(one.key)).to.equal(one.unitId)
  })

  it('never overlaps, loses nobody who had a place, answers the same again, and stays as it is when packed anew', () => {
    const stay = fc.record({
      from: fc.nat(20),
      nights: fc.integer({ min: 1, max: 6 }),
      place: fc.nat(3),
      kind: fc.nat(2),
    })
    // Packed once more, this one moved two who had changed places before.
    const circle = [
      { from: 9, nights: 5, place: 0, kind: 1 },
      ...[10, 14, 13, 10, 5].map((from, index) => ({ from, nights: [5, 1, 2, 5, 5][index] ?? 1, place: 0, kind: 0 })),
      { from: 0, nights: 6, place: 3, kind: 0 },
    ]
    fc.assert(
      fc.property(fc.array(stay, { maxLength: 40 }), (stays) => {
        const units = ['u1', 'u2', 'u3', 'u4'].map((id) => unit(id))
        const free = (rows: Taken[], one: Taken) =>
          rows.every((row) => row.unitId !== one.unitId || row.to <= one.from || row.from >= one.to)
        const standing: Taken[] = []
        const fixed: Taken[] = []
        const present: Piece[] = []
        const wanted: Piece[] = []
        for (const [index, { from, nights, place, kind }] of stays.entries()) {
          const row = taken(`u${place + 1}`, from, from + nights)
          if (kind === 2 || !free(standing, row)) {
            wanted.push(piece(`w${index}`, from, from + nights))
            continue
          }
          standing.push(row)
          if (kind === 0) fixed.push(row)
          else present.push(piece(`p${index}`, from, from + nights, row.unitId))
        }
        const packing = pack(units, fixed, present, wanted)
        const all = [...present, ...wanted]
        const rows = [...fixed]
        for (const [key, unitId] of packing.places) {
          const one = all.find((each) => each.key === key)
          if (!one) throw new Error('somebody unknown was placed')
          expect(free(rows, { ...one, unitId })).to.equal(true)
          rows.push({ ...one, unitId })
        }
        for (const one of present) expect(packing.places.has(one.key)).to.equal(true)
        expect(new Set([...packing.places.keys(), ...packing.stranded]).size).to.equal(all.length)
        expect(pack(units, fixed, present, wanted)).to.deep.equal(packing)

        const settled = all.flatMap((one) =>
          packing.places.has(one.key) ? [{ ...one, unitId: packing.places.get(one.key) ?? null }] : [],
        )
        const anew = pack(units, fixed, [], settled)
        if (anew.stranded.length > 0) return
        const again = pack(
          units,
          fixed,
          [],
          settled.map((one) => ({ ...one, unitId: anew.places.get(one.key) ?? null })),
        )
        for (const one of settled) expect(anew.places.has(one.key)).to.equal(true)
        expect(again.stranded).to.deep.equal([])
        expect(placesOf(again)).to.deep.equal(placesOf(anew))
      }),
      { numRuns: 300, examples: [[circle]] },
    )
  })
})
