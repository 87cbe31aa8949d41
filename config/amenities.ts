/** Keys of what a property or a unit type offers. */
export const amenities = [
  'air_conditioning',
  'airport_transfer',
  'balcony',
  'bar',
  'barbecue',
  'bathtub',
  'beach_access',
  'bicycles',
  'breakfast',
  'coffee_maker',
  'common_room',
  'cot',
  'desk',
  'elevator',
  'fan',
  'fireplace',
  'free_parking',
  'fridge',
  'garden',
  'gym',
  'hair_dryer',
  'hammock',
  'heating',
  'hot_tub',
  'kitchen',
  'laundry',
  'lockers',
  'luggage_storage',
  'minibar',
  'paid_parking',
  'pets_allowed',
  'pool',
  'private_bathroom',
  'reception_24h',
  'restaurant',
  'safe',
  'sauna',
  'sea_view',
  'shared_bathroom',
  'spa',
  'step_free_access',
  'tv',
  'washing_machine',
  'wifi',
] as const

export type Amenity = (typeof amenities)[number]

/** Keys of beds. */
export const bedKinds = ['single', 'double', 'queen', 'king', 'bunk', 'sofa_bed', 'cot'] as const
export type BedKind = (typeof bedKinds)[number]

/** Keys of what sets one unit apart from others of its type. */
export const unitAttributes = [
  'accessible',
  'balcony',
  'connecting',
  'corner',
  'ground_floor',
  'quiet',
  'sea_view',
  'smoking',
  'upper_floor',
] as const
export type UnitAttribute = (typeof unitAttributes)[number]
