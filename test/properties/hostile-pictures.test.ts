import { expect } from 'chai'
import fc from 'fast-check'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { readImageHeader } from '../../workers/properties/image-header.ts'
import { jpeg, png, real } from './pictures.ts'

const kept = 1024 * 1024
const picture = fc.constantFrom(...real)
const segment = Buffer.from('ffe10002', 'hex')
/** Fills what is kept of a picture with repetitions of a pattern behind a beginning. */
const endless = (start: Buffer, pattern: Buffer) => Buffer.concat([start, Buffer.alloc(kept - start.length, pattern)])
const hex = (text: string) => Buffer.from(text, 'hex')

/** A slice in the middle of other memory, as Node hands out short buffers. */
const amid = (bytes: Buffer, around: number) => {
  const memory = Buffer.alloc(bytes.length + 128, around)
  bytes.copy(memory, 64)
  return memory.subarray(64, 64 + bytes.length)
}

describe('The head of a picture, written by an enemy', () => {
  it('is read as an encoder writes it: the size as stored, whether it is to be turned or moves', async () => {
    for (const { mimeType, bytes } of real)
      expect(await readImageHeader(bytes)).to.deep.equal({ mimeType, width: 37, height: 23 })
  })

  it('says the same or nothing wherever it is cut, whatever lies in memory behind it', async () => {
    for (const { mimeType, bytes } of real)
      for (let length = 0; length <= bytes.length; length += 1) {
        const cut = bytes.subarray(0, length)
        const [one, other] = await Promise.all([0x01, 0xff].map((around) => readImageHeader(amid(cut, around))))
        expect(one, `${mimeType}, ${length} bytes`).to.deep.equal(other)
        if (one) expect(one, `${mimeType}, ${length} bytes`).to.deep.equal({ mimeType, width: 37, height: 23 })
      }
  })

  it('is a sound size or nothing, whatever bytes are changed, added or taken out', () =>
    fc.assert(
      fc.asyncProperty(
        picture,
        fc.array(fc.record({ at: fc.nat(300), without: fc.nat(3), added: fc.uint8Array({ maxLength: 6 }) }), {
          minLength: 1,
          maxLength: 8,
        }),
        async ({ bytes }, changes) => {
          const changed = changes.reduce(
            (before, { at, without, added }) =>
              Buffer.concat([before.subarray(0, at), added, before.subarray(at + without)]),
            bytes,
          )
          const found = await readImageHeader(changed)
          if (found === null) return
          expect(found.mimeType).to.be.oneOf(['image/jpeg', 'image/png', 'image/webp'])
          for (const size of [found.width, found.height]) {
            expect(size).to.be.within(1, 2 ** 31 - 1)
            expect(Number.isInteger(size)).to.equal(true)
          }
        },
      ),
      { numRuns: 1_000 },
    ))

  it('has no size beyond what the record holds', async () => {
    expect(await readImageHeader(png(2 ** 31 - 1, 1))).to.include({ width: 2 ** 31 - 1 })
    for (const [width, height] of [
      [2 ** 31, 1],
      [1, 2 ** 32 - 1],
      [0, 1],
    ] as const)
      expect(await readImageHeader(png(width, height))).to.equal(null)
    expect(await readImageHeader(jpeg(65_535, 0))).to.equal(null)
  })

  it('of a JPEG is followed by its lengths, over a thousand segments and no more', async () => {
    const frame = hex('ffc0000b08001700250101110000')
    const after = (segments: number) =>
      Buffer.concat([hex('ffd8'), ...Array.from({ length: segments }, () => segment), frame])
    const full = { mimeType: 'image/jpeg', width: 37, height: 23 }
    for (const segments of [0, 1, 999]) expect(await readImageHeader(after(segments))).to.deep.equal(full)
    expect(await readImageHeader(after(1_000))).to.equal(null)
    // A frame is not looked for where the lengths do not lead, such as in a preview.
    const broken = Buffer.concat([hex('ffd8ffe1000400000000'), frame, frame])
    expect(await readImageHeader(broken)).to.equal(null)
  })

  it('of a JPEG is read beside an Exif that cannot be', async () => {
    const exif = Buffer.concat([hex('ffe1000e'), Buffer.from('Exif\0\0MM\0*\0\0')])
    const { bytes } = real[0]!
    const sized = await readImageHeader(Buffer.concat([bytes.subarray(0, 2), exif, bytes.subarray(2)]))
    expect(sized).to.deep.equal({ mimeType: 'image/jpeg', width: 37, height: 23 })
  })

  it('is nothing in a mebibyte of what other types, or no type, would be read through', async () => {
    const zipped = deflateRawSync(Buffer.alloc(kept * 16))
    const zip = Buffer.concat([hex('504b03041400000008000000000000000000'), hex('ffffff7fffffff7f0a000000'), zipped])
    for (const bytes of [
      endless(hex('ffd8'), hex('ff')),
      endless(hex('ffd8'), segment),
      endless(hex('ffd8'), hex('ffe10000')),
      endless(hex('ffd8ffe10002'), hex('01')),
      endless(hex('89504e470d0a1a0a'), hex('0000000049484452')),
      endless(Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from('RIFF')),
      endless(hex('0000000c667479706176696600000000'), hex('00000008667265650000000066726565')),
      endless(hex('0000000c4a584c200d0a870a'), hex('00000000')),
      endless(Buffer.from('<svg '), Buffer.from('<svg a="')),
      endless(hex('49492a0008000000ffff'), hex('ff')),
      endless(Buffer.from('ID3\x03\0\0\0\0\0\0'), Buffer.from('ID3\x03\0\0\0\0\0\0')),
      gzipSync(Buffer.alloc(kept * 16)),
      zip,
    ])
      expect(await readImageHeader(bytes), bytes.toString('hex', 0, 24)).to.equal(null)
  })
})
