"""PyTorch's tensors, storages and types, as far as a pickle spells them, without PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.readers.inert_rebuilders import STANDARD
from explorer.readers.inert_values import Global, PickledArray
from explorer.readers.tensors import DTYPES, Storage, Tensor, Unreadable, from_array, strided

if TYPE_CHECKING:
    from explorer.readers.inert_pickle import Machine

_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "UntypedStorage": "uint8",
    "_UntypedStorage": "uint8",
}
_QUANTISED = {
    "QInt8Storage": 1,
    "QUInt8Storage": 1,
    "QInt32Storage": 4,
    "QUInt4x2Storage": 1,
    "QUInt2x4Storage": 1,
}
_ALIASES = {"double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32"}


@dataclass(frozen=True, eq=False)
class TypedStorage:
    """A storage as a tensor's pickle refers to it; ``dtype`` is None for types that can't be read."""

    storage: Storage
    dtype: str | None


@dataclass(frozen=True)
class StorageReference:
    """A persistent id, checked: ``("storage", type, key, location, elements[, view])``.

    Attributes
    ----------
    key : str
    dtype : str or None
        None for quantised and other types that can't be read.
    itemsize : int
        Bytes of an element; 0 where even that is not known.
    elements : int
    view : tuple of (str, int, int) or None
        Of old files: the view's own key, its first element and its count of elements.
    """

    key: str
    dtype: str | None
    itemsize: int
    elements: int
    view: tuple[str, int, int] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.elements * self.itemsize


def parse_reference(pid: Any) -> StorageReference:
    """Check a persistent id.

    Raises
    ------
    ValueError
        It is not of PyTorch's form.
    """
    match pid:
        case ("storage", Global() as cls, str() as key, str() | None, int() as elements, *rest):
            pass
        case _:
            raise ValueError("a tensor's storage is described in an unknown way")
    if not 0 <= elements < 1 << 62:
        raise ValueError("a tensor's storage has an impossible size")
    view = None
    match rest:
        case [] | [None]:
            pass
        case [(str() as view_key, int() as first, int() as count)] if 0 <= first <= first + count <= elements:
            view = (view_key, first, count)
        case _:
            raise ValueError("a tensor's storage is a view of an unknown kind")
    dtype = _STORAGES.get(cls.name)
    itemsize = _QUANTISED.get(cls.name, 0) if dtype is None else DTYPES[dtype].itemsize
    return StorageReference(key, dtype, itemsize, elements, view)


def _dtype_named(value: Any) -> str | None:
    """``torch.float8_e4m3fn`` as a type's name; None for what can't be read."""
    if not isinstance(value, Global):
        raise TypeError("a tensor's type is none")
    name = _ALIASES.get(value.name, value.name)
    return name if name in DTYPES else None


def _tensor(storage: Any, dtype: str | None, offset: Any, shape: Any, strides: Any) -> Tensor | Unreadable:
    if not isinstance(storage, TypedStorage):
        raise TypeError("a tensor without a storage")
    if dtype is None:
        return Unreadable("quantised or of an unknown type")
    return strided(storage.storage, dtype, offset, shape, strides)


def _rebuild_tensor(machine: Machine, args: tuple[Any, ...]) -> Tensor | Unreadable:
    """``(storage, offset, size, stride, ...)``, versions 1 and 2."""
    machine.charge(800)
    storage, offset, shape, strides = args[:4]
    return _tensor(storage, getattr(storage, "dtype", None), offset, shape, strides)


def _rebuild_tensor_v3(machine: Machine, args: tuple[Any, ...]) -> Tensor | Unreadable:
    """``(storage, offset, size, stride, requires_grad, hooks, dtype, ...)``: types newer than storages."""
    machine.charge(800)
    storage, offset, shape, strides, _, _, dtype = args[:7]
    return _tensor(storage, _dtype_named(dtype), offset, shape, strides)


def _rebuild_parameter(machine: Machine, args: tuple[Any, ...]) -> Any:
    """``(data, requires_grad, hooks[, state])``."""
    return args[0]


def _rebuild_from_type(machine: Machine, args: tuple[Any, ...]) -> Any:
    """``(rebuilder, type, args, state)``: a tensor of a subclass."""
    return machine.call(args[0], args[2])


def _rebuild_from_numpy(machine: Machine, args: tuple[Any, ...]) -> Tensor | Unreadable:
    """``(array, dtype, device, requires_grad)``: tensors of devices that PyTorch moves as arrays."""
    array = args[0].value if isinstance(args[0], PickledArray) else None
    tensor = None if array is None else from_array(array)
    return Unreadable("of an unknown kind") if tensor is None else tensor


def _unreadable(kind: str) -> Callable[[Machine, tuple[Any, ...]], Unreadable]:
    def rebuild(machine: Machine, args: tuple[Any, ...]) -> Unreadable:
        machine.charge(200)
        return Unreadable(kind)

    return rebuild


TORCH = {
    **STANDARD,
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter,
    "torch.nn.parameter.Parameter": _rebuild_parameter,
    "torch._tensor._rebuild_from_type": _rebuild_from_type,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type,
    "torch.tensor._rebuild_from_type": _rebuild_from_type,
    "torch._utils._rebuild_device_tensor_from_numpy": _rebuild_from_numpy,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": _rebuild_parameter,
    "torch._utils._rebuild_xla_tensor": _rebuild_from_numpy,
    "torch._utils._rebuild_qtensor": _unreadable("quantised"),
    "torch._utils._rebuild_sparse_tensor": _unreadable("sparse"),
    "torch._utils._rebuild_sparse_csr_tensor": _unreadable("sparse"),
    "torch._utils._rebuild_nested_tensor": _unreadable("nested"),
    "torch._utils._rebuild_meta_tensor_no_storage": _unreadable("without data"),
    "torch._utils._rebuild_wrapper_subclass": _unreadable("of an unknown kind"),
}
