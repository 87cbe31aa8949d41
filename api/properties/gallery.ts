import {
  Count,
  Https,
  Instant,
  Int,
  LocalText,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import type { Trx } from '../../db/lib/connection.ts'
import {
  changeImage,
  createImage,
  listImages,
  readImage,
  removeImage,
  readPropertyRecord,
} from '../../db/properties/index.ts'
import { resource } from '../lib/resource.ts'
import { ofProperty, stamps } from './schemas.ts'

const Category = OneOf(['exterior', 'unit', 'bathroom', 'common', 'food', 'surroundings', 'plan'])
const Status = OneOf(['pending', 'ready', 'broken'])
const optional = {
  unitTypeId: Nullable(Uuid),
  caption: LocalText,
  position: Int(0, 10_000),
}
const GalleryImage = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    url: Https,
    category: Category,
    ...optional,
    status: Status,
    /** Why it is broken. */
    problem: Nullable(Text(1, 60)),
    width: Nullable(Count),
    height: Nullable(Count),
    mimeType: Nullable(Text(1, 60)),
    bytes: Nullable(Count),
    checkedAt: Nullable(Instant),
    ...stamps,
  },
  { title: 'GalleryImage' },
)
const gallery = resource({
  name: 'gallery',
  subject: 'GalleryImage',
  table: 'gallery_image',
  path: `${ofProperty}/gallery`,
  param: 'galleryImageId',
  record: GalleryImage,
  read: (trx: Trx, id: string, { propertyId }: { propertyId: string }) => readImage(trx, propertyId, id),
})

const list = gallery.list({
  summary: 'List images of a property and its unit types',
  query: { status: Opt(Status), category: Opt(Category), unitTypeId: Opt(Uuid) },
  example: { category: 'common' },
  find: async ({ trx, params: { propertyId }, filter }) => {
    await readPropertyRecord(trx, propertyId)
    return listImages(trx, { ...filter, propertyId })
  },
})

const create = gallery.create({
  summary: 'Add an image by its address',
  description:
    'The image stays where it is. It is shown once a worker has found it to be a JPEG, PNG or WebP of at most 20 MiB and at least 800 pixels wide; else it is broken, and `problem` says why. At most 200 of a property.',
  errors: ['duplicate_code', 'reference_not_found', 'too_many', 'invalid_transition'],
  body: Obj({ url: Https, category: Category, ...Sparse(Obj(optional)).properties }),
  example: { url: 'https://example.com/garden.jpg', category: 'common', caption: { 'pt-BR': 'O jardim' } },
  command: ({ trx, params: { propertyId }, body }) => createImage(trx, propertyId, body),
})

const change = gallery.change({
  summary: 'Change caption, category, unit type or position of an image',
  description: 'The image is looked at again. Another address is another image.',
  errors: ['reference_not_found', 'invalid_transition'],
  body: Sparse(Obj({ category: Category, ...optional })),
  example: { position: 3 },
  command: ({ trx, id, params: { propertyId }, body }) => changeImage(trx, propertyId, id, body),
})

const remove = gallery.remove({
  summary: 'Remove an image',
  errors: ['invalid_transition'],
  command: ({ trx, id, params: { propertyId } }) => removeImage(trx, propertyId, id),
})

export const routes = [list, create, change, remove]
