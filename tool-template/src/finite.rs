//! A serializer around another one that refuses NaN and infinities.
//!
//! serde_json writes them as `null`, which says "there is no value" where the truth is "the computation broke".

use std::fmt::Display;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// The refusing serializer, and what it returns for compound values.
pub(crate) struct Finite<S>(pub(crate) S);

/// A value inside a compound one: without it the inner serializer would reach the value directly.
struct Guard<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Guard<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Finite(serializer))
    }
}

fn refusal<E: Error>(value: impl Display) -> E {
    E::custom(format_args!("{value} is not a JSON number; use an Option and leave it out, or check the computation"))
}

macro_rules! pass_on {
    ($($method:ident($type:ty))*) => { $(
        fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        }
    )* };
}

macro_rules! refuse_non_finite {
    ($($method:ident($type:ty))*) => { $(
        fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            if value.is_finite() { self.0.$method(value) } else { Err(refusal(value)) }
        }
    )* };
}

macro_rules! open {
    ($($method:ident($($arg:ident: $type:ty),*) -> $compound:ident)*) => { $(
        fn $method(self, $($arg: $type),*) -> Result<Self::$compound, S::Error> {
            self.0.$method($($arg),*).map(Finite)
        }
    )* };
}

impl<S: Serializer> Serializer for Finite<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Finite<S::SerializeSeq>;
    type SerializeTuple = Finite<S::SerializeTuple>;
    type SerializeTupleStruct = Finite<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Finite<S::SerializeTupleVariant>;
    type SerializeMap = Finite<S::SerializeMap>;
    type SerializeStruct = Finite<S::SerializeStruct>;
    type SerializeStructVariant = Finite<S::SerializeStructVariant>;

    refuse_non_finite! { serialize_f32(f32) serialize_f64(f64) }

    pass_on! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_char(char) serialize_str(&str) serialize_bytes(&[u8]) serialize_unit_struct(&'static str)
    }

    open! {
        serialize_seq(len: Option<usize>) -> SerializeSeq
        serialize_tuple(len: usize) -> SerializeTuple
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeTupleVariant
        serialize_map(len: Option<usize>) -> SerializeMap
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeStructVariant
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Guard(value))
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Guard(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &Guard(value))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! compound {
    ($($trait:ident { $($method:ident($($key:ident)?))* })*) => { $(
        impl<C: $trait> $trait for Finite<C> {
            type Ok = C::Ok;
            type Error = C::Error;

            $(fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), C::Error> {
                self.0.$method($($key,)? &Guard(value))
            })*

            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        }
    )* };
}

compound! {
    SerializeSeq { serialize_element() }
    SerializeTuple { serialize_element() }
    SerializeTupleStruct { serialize_field() }
    SerializeTupleVariant { serialize_field() }
    SerializeMap { serialize_key() serialize_value() }
    SerializeStruct { serialize_field(key) }
    SerializeStructVariant { serialize_field(key) }
}
